import { createLogger, type Logger } from '../../shared/base/logging.ts';
import {
  createLogExporter,
  createMetrics,
  type MetricsExporter,
  type MetricsRegistry,
} from '../../shared/base/metrics.ts';
import type { Runtime } from '../../shared/base/runtime.ts';
import { type Drain, installDrain } from '../../shared/base/shutdown.ts';
import { loadPipeline } from '../../shared/config/load.ts';
import type { PipelineKind, PipelineOf, ResolvedCommon } from '../../shared/config/resolved.ts';
import type { Environment, Surroundings } from './surroundings.ts';

/** One instance of a function that serves one pipeline: what it has whatever it does. */
export interface Instance<Pipeline extends ResolvedCommon = ResolvedCommon> extends Surroundings {
  /** What the capability's shells run by. */
  readonly runtime: Runtime;
  readonly env: Environment;
  readonly pipeline: Pipeline;
  readonly name: string;
  /** Absolute path of the directory that relative paths in the configuration belong to. */
  readonly baseDirectory: string;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
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
  const logger = createLogger({ pipeline: name }, surroundings.writeLine);
  const metrics = createMetrics();
  const exporter = createLogExporter(metrics, logger, surroundings.clock, pipeline.metricsFlushIntervalMillis);
  for (const warning of warnings) logger.log('WARNING', warning);
  logger.log('INFO', `${what} started`, { options: withoutSecrets(pipeline) });
  const runtime = { clock: surroundings.clock, random: surroundings.random, metrics, logger };
  return { ...surroundings, runtime, env, pipeline, name, baseDirectory, logger, metrics, exporter };
}

/** The effective options for the log: everything but where credentials are. */
const withoutSecrets = ({ access, ...rest }: ResolvedCommon): object => ({ ...rest, access: access.mode });

/** Cloud Run kills 10 s after SIGTERM; the rest is for the exit itself. */
const DRAIN_LIMIT_MILLIS = 9000;

/** What an instance does when it is told to stop. */
export interface Ending {
  /** Nothing waits for company any longer. */
  readonly onDrain: () => void;
  /** Closes what was opened, once nothing is in flight. */
  readonly close: () => Promise<void>;
}

/** Has the instance finish what it holds on SIGTERM, and write its last metrics. */
export const drainOf = ({ signals, clock, exporter }: Instance, { onDrain, close }: Ending): Drain =>
  installDrain(signals, {
    clock,
    limitMillis: DRAIN_LIMIT_MILLIS,
    onDrain,
    onIdle: () => {
      exporter.flush();
      return close();
    },
  });
