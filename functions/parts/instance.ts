import { totalmem } from 'node:os';
import { resolve } from 'node:path';
import { createLogger, type LogFields } from '../../shared/base/logging.ts';
import { createLogExporter, createMetrics, type MetricsExporter } from '../../shared/base/metrics.ts';
import type { Runtime } from '../../shared/base/runtime.ts';
import { type Drain, installDrain, type ProcessSignals } from '../../shared/base/shutdown.ts';
import { loadPipeline } from '../../shared/config/load.ts';
import type {
  PipelineKind,
  PipelineOf,
  ResolvedAccess,
  ResolvedCommon,
  ResolvedSink,
} from '../../shared/config/resolved.ts';
import type { BigtableAccess } from '../../shared/google/bigtable/services.ts';
import { BodyAdmission, defaultPushedBytes } from '../bodies/admission.ts';
import type { Intake } from '../bodies/take-body.ts';
import type { Environment, Surroundings } from './surroundings.ts';

/** One instance of a function that serves one pipeline: what it has whatever it does. */
export interface Instance<Pipeline extends ResolvedCommon = ResolvedCommon> extends OpenedRuntime {
  readonly env: Environment;
  readonly signals: ProcessSignals;
  readonly pipeline: Pipeline;
  /** The pipeline's. */
  readonly name: string;
  /** Absolute path of the directory that relative paths in the configuration belong to. */
  readonly baseDirectory: string;
  /** How the clients reach Bigtable. */
  readonly access: BigtableAccess;
}

/** What the shells of a pipeline run by in this process. */
export interface OpenedRuntime {
  readonly runtime: Runtime;
  /** Writes the metrics that are counted there. */
  readonly exporter: MetricsExporter;
}

/**
 * Loads the pipeline that the environment names and says in the log what it runs by.
 *
 * @param what the function, for its first log line.
 * @throws {ConfigError} where the configuration is wrong or names no such pipeline.
 */
export async function startInstance<Kind extends PipelineKind>(
  kind: Kind,
  what: string,
  env: Environment,
  surroundings: Surroundings,
): Promise<Instance<PipelineOf<Kind>>> {
  const { pipeline, name, warnings, baseDirectory } = await loadPipeline(env, kind);
  const opened = openRuntime(surroundings, { pipeline: name }, pipeline.metricsFlushIntervalMillis);
  const { logger } = opened.runtime;
  for (const warning of warnings) logger.log('WARNING', warning);
  logger.log('INFO', `${what} started`, { options: withoutSecrets(pipeline) });
  const access = accessOf(pipeline.access, baseDirectory, env);
  return { ...opened, env, signals: surroundings.signals, pipeline, name, baseDirectory, access };
}

/** How an instance takes bodies of at most `maxBytes` each. */
export function intakeOf({ pipeline, runtime }: Instance<ResolvedSink>, maxBytes: number): Intake {
  const { clock, logger } = runtime;
  const maxPushedBytes = pipeline.input.maxPushedBytes ?? defaultPushedBytes(process.constrainedMemory(), totalmem());
  logger.log('INFO', 'bodies of requests are bounded', { maxPushedBytes });
  return { admission: new BodyAdmission(maxPushedBytes), maxBytes, clock };
}

/** Metrics and log of a pipeline in this process. `fields`: of every line of the log. */
export function openRuntime(
  { clock, random, writeLine }: Surroundings,
  fields: LogFields,
  metricsFlushIntervalMillis: number,
): OpenedRuntime {
  const logger = createLogger(fields, writeLine);
  const metrics = createMetrics();
  const exporter = createLogExporter(metrics, logger, clock, metricsFlushIntervalMillis);
  return { runtime: { clock, random, metrics, logger }, exporter };
}

/** A relative path of a key belongs to the directory of the configuration. */
export function accessOf(access: ResolvedAccess, baseDirectory: string, env: Environment): BigtableAccess {
  switch (access.mode) {
    case 'emulator':
      return { emulatorEndpoint: `${access.host}:${access.port}` };
    case 'key-file':
      return { serviceAccountKeyFile: resolve(baseDirectory, access.serviceAccountKeyFile) };
    case 'application-default': {
      // As the official clients do: the variable stands for emulatorEndpoint.
      const emulator = env.BIGTABLE_EMULATOR_HOST;
      return emulator === undefined || emulator === '' ? {} : { emulatorEndpoint: emulator };
    }
    default:
      return access satisfies never;
  }
}

/** The effective options for the log: everything but where credentials are. */
const withoutSecrets = ({ access, ...rest }: ResolvedCommon): object => ({ ...rest, access: access.mode });

/** Cloud Run kills 10 s after SIGTERM; the rest is for the exit itself. */
export const DRAIN_LIMIT_MILLIS = 9000;

/** What an instance does when it is told to stop. */
export interface Ending {
  /** Nothing waits for company any longer. */
  readonly onDrain: () => void;
  /** Closes what was opened, once nothing is in flight. */
  readonly close: () => Promise<void>;
}

/** Has the instance finish what it holds on SIGTERM, and write its last metrics. */
export const drainOf = ({ signals, runtime: { clock }, exporter }: Instance, { onDrain, close }: Ending): Drain =>
  installDrain(signals, {
    clock,
    limitMillis: DRAIN_LIMIT_MILLIS,
    onDrain,
    onIdle: () => {
      exporter.flush();
      return close();
    },
  });
