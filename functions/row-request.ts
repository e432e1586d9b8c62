import { startedOnce } from './parts/entry-point.ts';
import { type HttpHandler, httpHandler, serveHttp } from './parts/http-handler.ts';
import { startInstance } from './parts/instance.ts';
import { nameableTables, openRowExecutor, replayProtectionOf } from './parts/row-requests.ts';
import { type Environment, ownProcess, type Surroundings } from './parts/surroundings.ts';

/**
 * HTTP → one `CheckAndMutateRow` or `ReadModifyWriteRow`, its result in the answer. Sent once: an answer without a result
 * says whether the request may have been applied. Who may call is the platform's to decide: deploy it without public access.
 */
export const rowRequest = startedOnce(() => startRowRequest(process.env), serveHttp);

/** Builds one instance of the row requests over HTTP: configuration, clients, executor, and the function that answers. */
export async function startRowRequest(env: Environment, surroundings: Surroundings = ownProcess): Promise<HttpHandler> {
  const instance = await startInstance('request-sink', 'row requests', env, surroundings);
  const { pipeline, name, runtime } = instance;
  const { executor, sweep, close } = openRowExecutor(instance, { countsRecords: false });
  const service = {
    pipeline: name,
    executor,
    destination: pipeline.destination,
    mayName: await nameableTables(instance),
    emptyBranchPolicy: pipeline.emptyBranchPolicy,
    ...(pipeline.replayProtection && {
      protection: replayProtectionOf(pipeline.replayProtection.markerFamily, instance),
    }),
    runtime,
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
