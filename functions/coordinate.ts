import { randomUUID } from 'node:crypto';
import type { Runtime } from '../shared/base/runtime.ts';
import { installDrain } from '../shared/base/shutdown.ts';
import type { Ticks } from '../shared/coordinator/tick.ts';
import { type PipelineRun, runTicks } from '../shared/coordinator/tick-loop.ts';
import { entryPoint, type Handler } from './parts/entry-point.ts';
import { DRAIN_LIMIT_MILLIS, openRuntime } from './parts/instance.ts';
import { Databases } from './parts/databases.ts';
import { type Environment, ownProcess, type Surroundings } from './parts/surroundings.ts';
import { loadTickedPipelines, type TickedPipeline } from './parts/ticked-pipelines.ts';

/**
 * Cloud Scheduler, every minute → 55 s of ticks for every pipeline of the configuration that needs them: checkpoints are
 * completed, their work is sent out, lost work is sent again; runs of scans are planned and ended. 200 says in JSON what was done, or that another
 * invocation is at it; at once where no pipeline needs ticks.
 */
export const coordinate = entryPoint(() => startCoordinate(process.env));

/** One pipeline in this instance, over all invocations. */
interface Coordinated {
  /** Its ticks in one invocation. */
  readonly ticks: (owner: string) => Ticks;
  readonly runtime: Runtime;
  readonly flush: () => void;
  readonly close: () => Promise<void>;
}

/** Builds one instance of the coordinator: every pipeline that needs ticks, or the one that CONNECTOR_PIPELINE names. */
export async function startCoordinate(env: Environment, surroundings: Surroundings = ownProcess): Promise<Handler> {
  const pipelines = await loadTickedPipelines(env);
  const databases = new Databases();
  const coordinated = await Promise.all(
    pipelines.map((pipeline) => coordinatedOf(pipeline, databases, env, surroundings)),
  );
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
        coordinated.map(({ ticks, runtime }) => runTicks(ticks(owner), runtime, stopping.signal)),
      );
      return { status: 200, text: summaryOf(runs) };
    });
}

const summaryOf = (runs: readonly PipelineRun[]): string =>
  JSON.stringify({ pipelines: runs, ...(runs.length === 0 && { message: 'no pipeline needs ticks' }) });

async function coordinatedOf(
  { name, options, open, warnings, metricsFlushIntervalMillis, baseDirectory }: TickedPipeline,
  databases: Databases,
  env: Environment,
  surroundings: Surroundings,
): Promise<Coordinated> {
  const fields = { pipeline: name, function: 'coordinate' };
  const { runtime, exporter } = openRuntime(surroundings, fields, metricsFlushIntervalMillis);
  for (const warning of warnings) runtime.logger.log('WARNING', warning);
  runtime.logger.log('INFO', 'coordinator started', { options });
  const { ticks, close } = await open({ name, runtime, databases, env, baseDirectory });
  return {
    runtime,
    ticks: (owner) => {
      const own = ticks(owner);
      return {
        ...own,
        async tick(signal) {
          try {
            return await own.tick(signal);
          } finally {
            exporter.flushIfDue();
          }
        },
      };
    },
    flush: () => {
      exporter.flush();
    },
    close,
  };
}
