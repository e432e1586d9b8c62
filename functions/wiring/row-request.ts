import { type HttpHandler, httpHandler } from './http-handler.ts';
import { startInstance } from './instance.ts';
import { replayProtectionOf } from './replay-protection.ts';
import { openRowExecutor } from './row-executor.ts';
import { type Environment, ownProcess, type Surroundings } from './surroundings.ts';

/** Builds one instance of the row requests over HTTP: configuration, clients, executor, and the function that answers. */
export async function startRowRequest(env: Environment, surroundings: Surroundings = ownProcess): Promise<HttpHandler> {
  const instance = await startInstance('request-sink', 'row requests', env, surroundings);
  const { pipeline, name, metrics, logger } = instance;
  const { executor, sweep, close } = openRowExecutor(instance, { countsRecords: false });
  const service = {
    pipeline: name,
    executor,
    destination: pipeline.destination,
    emptyBranchPolicy: pipeline.emptyBranchPolicy,
    ...(pipeline.replayProtection && {
      protection: replayProtectionOf(pipeline.replayProtection.markerFamily, instance),
    }),
    logger,
    metrics,
  };
  return httpHandler(instance, service, {
    // A request waits for nobody: what is out ends by itself within the limit.
    onDrain: () => undefined,
    sweep,
    close() {
      close();
      return Promise.resolve();
    },
  });
}
