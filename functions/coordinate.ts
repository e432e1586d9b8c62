import { randomUUID } from 'node:crypto';
import { createLogger } from '../shared/base/logging.ts';
import { createLogExporter, createMetrics } from '../shared/base/metrics.ts';
import { installDrain } from '../shared/base/shutdown.ts';
import type { CoordinatedPipeline } from '../shared/coordinator/ports.ts';
import { type PipelineRun, runTicks, type TickLoopDependencies } from '../shared/coordinator/tick-loop.ts';
import { createWorkTopic } from '../shared/google/pubsub/work-topic.ts';
import { createTicks } from '../shared/staged/checkpoint/tick.ts';
import { entryPoint, type Handler } from './parts/entry-point.ts';
import { loadStagedPipelines, type StagedPipeline } from './parts/staged-pipelines.ts';
import { StageDatabases } from './parts/stage-databases.ts';
import { type Environment, ownProcess, type Surroundings } from './parts/surroundings.ts';

/**
 * Cloud Scheduler, every minute → 55 s of ticks for every staged pipeline of the configuration: checkpoints are
 * completed, their work is sent out, lost work is sent again. 200 says in JSON what was done, or that another
 * invocation is at it.
 */
export const coordinate = entryPoint(() => startCoordinate(process.env));

/** Cloud Run kills 10 s after SIGTERM; the rest is for the exit itself. */
const DRAIN_LIMIT_MILLIS = 9000;

/** One pipeline in this instance, over all invocations. */
interface Coordinated {
  /** Its ticks in one invocation. */
  readonly ticks: (owner: string) => CoordinatedPipeline;
  readonly dependencies: TickLoopDependencies;
  readonly flush: () => void;
  readonly close: () => Promise<void>;
}

/** Builds one instance of the coordinator: every staged pipeline, or the one that CONNECTOR_PIPELINE names. */
export async function startCoordinate(env: Environment, surroundings: Surroundings = ownProcess): Promise<Handler> {
  const pipelines = await loadStagedPipelines(env);
  const databases = new StageDatabases();
  const coordinated = pipelines.map((pipeline) => coordinatedOf(pipeline, databases, surroundings));
  const stopping = new AbortController();
  const drain = installDrain(surroundings.signals, {
    clock: surroundings.clock,
    limitMillis: DRAIN_LIMIT_MILLIS,
    onDrain: () => {
      stopping.abort(new Error('this instance is shutting down'));
    },
    async onIdle() {
      for (const { flush } of coordinated) flush();
      await Promise.all([...coordinated.map(({ close }) => close()), databases.close()]);
    },
  });
  return () =>
    drain.track(async () => {
      if (drain.isDraining) return { status: 503, text: 'this instance is shutting down' };
      const owner = randomUUID();
      // Each on its own: what fails or is held in one pipeline is nothing to another.
      const runs = await Promise.all(
        coordinated.map(({ ticks, dependencies }) => runTicks(ticks(owner), dependencies, stopping.signal)),
      );
      return { status: 200, text: summaryOf(runs) };
    });
}

const summaryOf = (runs: readonly PipelineRun[]): string => JSON.stringify({ pipelines: runs });

function coordinatedOf(
  { name, staging, warnings, metricsFlushIntervalMillis }: StagedPipeline,
  databases: StageDatabases,
  { clock, writeLine }: Surroundings,
): Coordinated {
  const logger = createLogger({ pipeline: name, function: 'coordinate' }, writeLine);
  const metrics = createMetrics();
  const exporter = createLogExporter(metrics, logger, clock, metricsFlushIntervalMillis);
  for (const warning of warnings) logger.log('WARNING', warning);
  logger.log('INFO', 'coordinator started', { options: staging });
  const store = databases.stores(staging.firestore, name).coordinator;
  const topic = createWorkTopic(staging.commitTopic);
  return {
    dependencies: { clock, logger, metrics },
    ticks: (owner) => {
      const pipeline = createTicks(name, staging, { store, topic, clock, metrics, logger, owner });
      return {
        ...pipeline,
        async tick(signal) {
          try {
            return await pipeline.tick(signal);
          } finally {
            exporter.flushIfDue();
          }
        },
      };
    },
    flush: () => {
      exporter.flush();
    },
    close: () => topic.close(),
  };
}
