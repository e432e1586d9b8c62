import { EventEmitter, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { http } from '@google-cloud/functions-framework';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import { ownBodies } from '../../functions/bodies/own-bodies.ts';
import { startedOnce } from '../../functions/parts/entry-point.ts';
import { serveHttp } from '../../functions/parts/http-handler.ts';
import { startRowRequest } from '../../functions/row-request.ts';
import { type LocalBigtable, startBigtableServer } from '../../infra/local/servers/bigtable/server.ts';
import { systemClock } from '../../shared/base/clock.ts';
import { systemRandom } from '../../shared/base/random.ts';
import { connect, createTable, type RawClient } from './bigtable-raw-client.ts';

/** One instance of `rowRequest` under the functions framework, over an embedded Bigtable with the table `t`. */
export interface RowRequestHarness extends AsyncDisposable {
  readonly bigtable: LocalBigtable;
  readonly client: RawClient;
  readonly url: string;
  readonly logs: readonly Readonly<Record<string, unknown>>[];
  /** Sends a document, or a body as it is. */
  ask(document: unknown, options?: AskOptions): Promise<Response>;
  terminate(): Promise<unknown>;
}

export interface AskOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

let instances = 0;

export async function startRowRequests(pipeline: Readonly<Record<string, unknown>> = {}): Promise<RowRequestHarness> {
  const bigtable = await startBigtableServer();
  const client = connect(bigtable.address);
  await createTable(client, 't', { f: {}, m: {} });
  const logs: Readonly<Record<string, unknown>>[] = [];
  const exited = Promise.withResolvers<number>();
  const signals = Object.assign(new EventEmitter(), { exit: exited.resolve });
  const terminate = (): Promise<number> => {
    signals.emit('SIGTERM');
    return exited.promise;
  };
  const options = {
    kind: 'request-sink',
    topic: 'projects/p/topics/requests',
    project: 'p',
    instance: 'i',
    table: 't',
    serializer: 'request',
    emulatorEndpoint: bigtable.address,
    // A metric line at the end of every invocation.
    metricsFlushInterval: '0ms',
    ...pipeline,
  };
  const handler = await startRowRequest(
    { CONNECTOR_CONFIG: JSON.stringify({ pipelines: { rows: options } }) },
    {
      clock: systemClock,
      random: systemRandom,
      signals,
      writeLine: (line) => logs.push(JSON.parse(line) as Readonly<Record<string, unknown>>),
    },
  );
  const entry = startedOnce(() => Promise.resolve(handler), serveHttp);
  const name = `rowRequest${(instances += 1)}`;
  http(name, (request, response) => {
    entry.handle(request, response);
  });
  await ownBodies();
  const server = getTestServer(name).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    bigtable,
    client,
    url,
    logs,
    ask(document, { headers, signal } = {}) {
      const isWhole = typeof document === 'string' || document instanceof Uint8Array;
      return fetch(url, {
        method: 'POST',
        body: isWhole ? Buffer.from(document) : JSON.stringify(document),
        headers: { 'content-type': 'application/json', ...headers },
        ...(signal && { signal }),
      });
    },
    terminate,
    async [Symbol.asyncDispose]() {
      await terminate();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      client.close();
      await bigtable.close();
    },
  };
}
