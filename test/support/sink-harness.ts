import { EventEmitter, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { http } from '@google-cloud/functions-framework';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import { ownBodies } from '../../functions/bodies/own-bodies.ts';
import { TakenBody } from '../../functions/bodies/take-body.ts';
import { entryPoint, type Handler, withoutDomains } from '../../functions/parts/entry-point.ts';
import { startBulkSink } from '../../functions/bulk-sink.ts';
import type { Surroundings } from '../../functions/parts/surroundings.ts';
import type { PubsubMessage } from '../../shared/proto/google/pubsub/v1/pubsub.ts';
import type { MutateRowsRequest } from '../../shared/proto/google/bigtable/v2/bigtable.ts';
import { type LocalBigtable, startBigtableServer } from '../../infra/local/servers/bigtable/server.ts';
import { type Clock, systemClock } from '../../shared/base/clock.ts';
import { systemRandom } from '../../shared/base/random.ts';
import { connect, createTable, readRows, type RawClient, type ReadRow } from './bigtable-raw-client.ts';
import { DEAD_LETTER_TOPIC, type DeadLetters, startDeadLetters } from './dead-letters.ts';
import { pushBody, type TestMessage } from './push-body.ts';

export interface SinkOptions {
  /** What starts the instance. Default: the bulk sink. */
  readonly start?: (env: Readonly<Record<string, string>>, surroundings: Surroundings) => Promise<Handler>;
  /** Options of the pipeline over those of the harness: table `t` of instance `i` in project `p`, entries as records. */
  readonly pipeline?: Readonly<Record<string, unknown>>;
  /** Families of the table `t`. Default: `f`. Null: there is no table. */
  readonly families?: readonly string[] | null;
  /** `topic`: dead letters are published and can be pulled. `no-topic`: the topic is not there until it is created. */
  readonly deadLetters?: 'topic' | 'no-topic';
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  /** The Bigtable of another harness, which keeps it: a further instance beside that one. */
  readonly bigtable?: LocalBigtable;
}

/** The answer to a push. */
export interface Answer {
  readonly status: number;
  readonly text: string;
}

export interface LogLine {
  readonly severity: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

/**
 * One instance of a sink, the bulk sink unless another is named, with real edges: pushes arrive over HTTP at the functions framework, requests leave
 * over gRPC to an embedded Bigtable, dead letters to an embedded Pub/Sub. Close it with `await using`.
 */
export interface SinkHarness extends AsyncDisposable {
  readonly bigtable: LocalBigtable;
  /** Generated clients of that Bigtable, for reading back and for admin calls. */
  readonly client: RawClient;
  readonly deadLetters: DeadLetters | undefined;
  /** What reached the server of MutateRows, in order of arrival. */
  readonly requests: readonly MutateRowsRequest[];
  /** Ids of the pushed messages, in the order in which the function saw them. */
  readonly arrivals: readonly string[];
  readonly logs: readonly LogLine[];
  /** Pushes a message, or a body as it is. */
  push(message: TestMessage): Promise<Answer>;
  /** Pushes a message of the topic for replays. */
  pushLetter(message: TestMessage): Promise<Answer>;
  post(body: string | Buffer, contentType?: string): Promise<Answer>;
  createTable(table: string, families: readonly string[]): Promise<void>;
  rows(table?: string): Promise<ReadRow[]>;
  /** Sends SIGTERM. Resolves with the exit code once the instance has drained. */
  terminate(): Promise<number>;
  /** Dead letters since the last call. */
  letters(): Promise<PubsubMessage[]>;
  /** Sum of a counter over all metric lines; of one label where it is given. */
  count(metric: string, label?: string): number;
}

const LETTERS = 'projects/p/subscriptions/dead-letters-sink-replay';

export const TABLE = 'projects/p/instances/i/tables/t';

let instances = 0;

export async function startSink(options: SinkOptions = {}): Promise<SinkHarness> {
  const { families = ['f'], clock = systemClock, start = startBulkSink } = options;
  const bigtable = options.bigtable ?? (await startBigtableServer());
  const client = connect(bigtable.address);
  const deadLetters = options.deadLetters && (await startDeadLetters());
  if (options.deadLetters === 'topic') await deadLetters?.createTopic();
  const requests = recordRequests(bigtable);
  const logs: LogLine[] = [];
  const arrivals: string[] = [];
  const signals = new InstanceSignals();

  const create = async (table: string, names: readonly string[]): Promise<void> => {
    await createTable(client, table, Object.fromEntries(names.map((name) => [name, {}])));
  };
  if (families) await create('t', families);

  const pipeline = {
    ...basePipeline(bigtable.address, deadLetters),
    ...options.pipeline,
  };
  const handler = await start(
    { CONNECTOR_CONFIG: JSON.stringify({ pipelines: { sink: pipeline } }), ...options.env },
    { clock, random: systemRandom, signals, writeLine: (line) => logs.push(JSON.parse(line) as LogLine) },
  );
  const sink = entryPoint(() => Promise.resolve(noting(handler, arrivals)));
  const name = `sink${(instances += 1)}`;
  http(name, (request, response) => {
    sink.handle(request, response);
  });
  withoutDomains();
  await ownBodies();
  const server = getTestServer(name).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

  const post = async (body: string | Buffer, contentType = 'application/json', path = ''): Promise<Answer> => {
    const response = await fetch(`${url}${path}`, { method: 'POST', body, headers: { 'content-type': contentType } });
    return { status: response.status, text: await response.text() };
  };
  return {
    bigtable,
    client,
    deadLetters,
    requests,
    arrivals,
    logs,
    push: (message) => post(JSON.stringify(pushBody(message))),
    pushLetter: (message) =>
      post(JSON.stringify(pushBody({ subscription: LETTERS, ...message })), 'application/json', 'letters'),
    post,
    createTable: create,
    rows: (table = 't') => readRows(client, `projects/p/instances/i/tables/${table}`),
    letters: () => (deadLetters ? deadLetters.pull() : Promise.resolve([])),
    count: (metric, label) => sumOf(logs, metric, label),
    terminate: () => signals.terminate(),
    async [Symbol.asyncDispose]() {
      await signals.terminate();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      client.close();
      await deadLetters?.close();
      if (!options.bigtable) await bigtable.close();
    },
  };
}

const basePipeline = (address: string, deadLetters: DeadLetters | undefined): object => ({
  kind: 'bulk-sink',
  topic: 'projects/p/topics/records',
  project: 'p',
  instance: 'i',
  table: 't',
  serializer: 'entry',
  emulatorEndpoint: address,
  // A metric line at the end of every invocation.
  metricsFlushInterval: '0ms',
  ...(deadLetters && { failurePolicy: 'dead-letter', deadLetter: { topic: DEAD_LETTER_TOPIC } }),
});

/** A rule that meets no call sees them all. */
function recordRequests(bigtable: LocalBigtable): MutateRowsRequest[] {
  const requests: MutateRowsRequest[] = [];
  const where = (request: MutateRowsRequest): boolean => {
    requests.push(request);
    return false;
  };
  bigtable.faults.add({
    method: 'MutateRows',
    where,
    times: Infinity,
    effect: { kind: 'delay', delayMillis: 0 },
  });
  return requests;
}

/** Stands for the process: takes SIGTERM and lets the instance end, which closes all it opened. */
export class InstanceSignals extends EventEmitter {
  readonly #exited = Promise.withResolvers<number>();

  exit(code: number): void {
    this.#exited.resolve(code);
  }

  terminate(): Promise<number> {
    this.emit('SIGTERM');
    return this.#exited.promise;
  }
}

/** Notes the id of every message on its way to the handler. */
function noting(handler: Handler, arrivals: string[]): Handler {
  const note: Handler = (body, path) => {
    if (!body) return handler(body, path);
    const bytes = body.take();
    arrivals.push(messageIdOf(bytes));
    return handler(new TakenBody(bytes, body.room), path);
  };
  return Object.assign(note, handler);
}

function messageIdOf(bytes: Buffer | undefined): string {
  try {
    const body = JSON.parse(String(bytes)) as { message?: { messageId?: string } | null } | null;
    return body?.message?.messageId ?? '';
  } catch {
    return '';
  }
}

export function sumOf(logs: readonly LogLine[], metric: string, label: string | undefined): number {
  const values = logs.map((line) => {
    if (label === undefined) return (line.metrics as Record<string, unknown> | undefined)?.[metric];
    return line.metric === metric && line.label === label ? line.value : undefined;
  });
  return values.reduce<number>((sum, value) => sum + (typeof value === 'number' ? value : 0), 0);
}
