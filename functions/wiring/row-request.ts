import { ClientPool } from '../../shared/google/bigtable/clients.ts';
import { createRowCalls } from '../../shared/google/bigtable/row-calls.ts';
import { createRowExecutor } from '../../shared/single-row/execute.ts';
import { accessOf } from './access.ts';
import { type HttpHandler, httpHandler } from './http-handler.ts';
import { startInstance } from './instance.ts';
import { type Environment, ownProcess, type Surroundings } from './surroundings.ts';

/** Builds one instance of the row requests over HTTP: configuration, clients, executor, and the function that answers. */
export async function startRowRequest(env: Environment, surroundings: Surroundings = ownProcess): Promise<HttpHandler> {
  const instance = await startInstance('request-sink', 'row requests', env, surroundings);
  const { pipeline, name, baseDirectory, clock, metrics, logger } = instance;
  const { requestOptions, replayProtection } = pipeline;

  const access = accessOf(pipeline.access, baseDirectory, env);
  const clients = new ClientPool({ ...access, ...requestOptions }, clock, metrics);
  const executor = createRowExecutor(
    { appProfileId: pipeline.appProfileId ?? '', countsRecords: false, ...requestOptions },
    { send: createRowCalls(clients), clock, metrics },
  );
  const service = {
    pipeline: name,
    executor,
    destination: pipeline.destination,
    emptyBranchPolicy: pipeline.emptyBranchPolicy,
    ...(replayProtection && { markerFamily: replayProtection.markerFamily }),
    logger,
    metrics,
  };
  return httpHandler(instance, service, {
    // A request waits for nobody: what is out ends by itself within the limit.
    onDrain: () => undefined,
    sweep: () => {
      clients.sweep();
    },
    close() {
      executor.close();
      clients.close();
      return Promise.resolve();
    },
  });
}
