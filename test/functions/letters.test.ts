import { describe, expect, test } from 'vitest';
import { startBulkSink } from '../../functions/bulk-sink.ts';
import type { Handler } from '../../functions/parts/entry-point.ts';
import type { Environment, Surroundings } from '../../functions/parts/surroundings.ts';
import { startRequestSink } from '../../functions/request-sink.ts';
import { startStagedSink } from '../../functions/staged-sink.ts';
import { startBigtableServer } from '../../infra/local/servers/bigtable/server.ts';
import { systemClock } from '../../shared/base/clock.ts';
import { systemRandom } from '../../shared/base/random.ts';
import { type DeadLetter, deadLetterOf } from '../../shared/letters/write.ts';
import { conditionalRequest } from '../../shared/model/conditional.ts';
import { noCell } from '../../shared/model/filter/filter.ts';
import type { Mutation } from '../../shared/model/mutation.ts';
import { encodeRowRequestDocument } from '../../shared/single-row/forms/documents.ts';
import { aggregateFamily, connect, createTable, readRows } from '../support/bigtable-raw-client.ts';
import { failedRecord } from '../support/failed-record.ts';
import { takenPush, type TestMessage } from '../support/push-body.ts';
import { recordOf } from '../support/pushed-message.ts';
import { type Answer, InstanceSignals } from '../support/sink-harness.ts';

/** Two pipelines that read one topic, each into a table of its own, in the kinds of sinks that take letters back. */

type Start = (env: Environment, surroundings: Surroundings) => Promise<Handler>;

const KINDS: Readonly<Record<string, { readonly start: Start; readonly options: object }>> = {
  'a bulk sink': { start: startBulkSink, options: { kind: 'bulk-sink' } },
  'a staged sink': {
    start: startStagedSink,
    options: { kind: 'staged-sink', commit: 'on-receipt', markerFamily: 'applied' },
  },
  'a request sink': {
    start: startRequestSink,
    options: { kind: 'request-sink', replayProtection: { markerFamily: 'applied' } },
  },
};
type Kind = keyof typeof KINDS;
/** What counts a record once however often it comes. */
const EXACT: readonly Kind[] = ['a staged sink', 'a request sink'];

const MAPPING = {
  writeMode: 'aggregate',
  rowKey: '${k}',
  families: { sum: { aggregate: 'int64-sum', columns: { n: 'int64' } } },
};
const RECORD = Buffer.from('{"k":"row","n":1}');

interface World extends AsyncDisposable {
  /** To a subscription of the topic that both read. */
  push(pipeline: string, message: TestMessage): Promise<Answer>;
  /** To the subscription of the topic by which letters of the pipeline come back. */
  pushLetter(pipeline: string, letter: DeadLetter): Promise<Answer>;
  /** The cells of the row, without markers: undefined where there is none. */
  row(table: string): Promise<readonly string[] | undefined>;
}

async function world(kind: Kind, more: Readonly<Record<string, object>> = {}): Promise<World> {
  const { start, options } = KINDS[kind]!;
  const bigtable = await startBigtableServer();
  const client = connect(bigtable.address);
  for (const table of ['a', 'b']) {
    await createTable(client, table, { sum: aggregateFamily('sum'), plain: {}, applied: {} });
  }
  const pipelineOf = (table: string): object => ({
    topic: 'projects/p/topics/records',
    project: 'p',
    instance: 'i',
    table,
    mapping: MAPPING,
    emulatorEndpoint: bigtable.address,
    metricsFlushInterval: '0ms',
    ...options,
    ...more[table],
  });
  const config = JSON.stringify({ pipelines: { a: pipelineOf('a'), b: pipelineOf('b') } });
  const instances: InstanceSignals[] = [];
  const begin = (pipeline: string): Promise<Handler> => {
    const signals = new InstanceSignals();
    instances.push(signals);
    const surroundings = { clock: systemClock, random: systemRandom, signals, writeLine: () => undefined };
    return start({ CONNECTOR_CONFIG: config, CONNECTOR_PIPELINE: pipeline }, surroundings);
  };
  const handlers: Readonly<Record<string, Handler>> = { a: await begin('a'), b: await begin('b') };
  const post = async (pipeline: string, message: TestMessage, path: string): Promise<Answer> => {
    const { status, text = '' } = await handlers[pipeline]!(takenPush(message), path);
    return { status, text };
  };
  return {
    push: (pipeline, message) =>
      post(pipeline, { subscription: `projects/p/subscriptions/records-${pipeline}`, ...message }, '/'),
    pushLetter: (pipeline, { data, attributes }) =>
      post(
        pipeline,
        { data, attributes, subscription: `projects/p/subscriptions/letters-${pipeline}-replay` },
        '/letters',
      ),
    async row(table) {
      const rows = await readRows(client, `projects/p/instances/i/tables/${table}`);
      return rows.find(({ key }) => key === 'row')?.cells.filter((cell) => !cell.startsWith('applied:'));
    },
    async [Symbol.asyncDispose]() {
      for (const signals of instances) await signals.terminate();
      client.close();
      await bigtable.close();
    },
  };
}

const ONE = Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]);
const ADD: Mutation = {
  kind: 'addToCell',
  family: 'sum',
  qualifier: Buffer.from('n'),
  timestampMicros: 0n,
  input: { kind: 'int64', value: 1n },
};

interface Filed {
  readonly pipeline?: string;
  readonly table?: string;
  readonly mutations?: readonly Mutation[];
}

/** A letter of the record of message 99, as pipeline `a` filed it unless something else is said. */
function letterOf(
  kind: Kind,
  payload: 'write' | 'record',
  { pipeline = 'a', table = pipeline, mutations = [ADD] }: Filed = {},
): DeadLetter {
  const rowKey = Buffer.from('row');
  const request = conditionalRequest({ rowKey, predicate: noCell(), then: [], otherwise: [...mutations] });
  const isRequest = kind === 'a request sink';
  const { entry, ...failed } = failedRecord({
    record: recordOf({ messageId: '99', data: RECORD }),
    destination: { project: 'p', instance: 'i', table },
  });
  expect(entry).toBeDefined();
  return deadLetterOf(
    {
      ...failed,
      ...(isRequest
        ? { encodeRequest: () => encodeRowRequestDocument({ request: { kind: 'conditional', request } }, 'json') }
        : { entry: { rowKey, mutations } }),
    },
    { pipeline, payload: payload === 'record' ? 'record' : isRequest ? 'request' : 'entry' },
    0,
  );
}

const once = [expect.stringContaining(ONE.toString('latin1'))];
const kinds = Object.keys(KINDS);
const eachPayload = kinds.flatMap((kind) => (['write', 'record'] as const).map((payload) => [kind, payload] as const));

describe('a letter', () => {
  test.each(eachPayload)(
    'of %s (%s) is applied by the pipeline that filed it, and by no other',
    async (kind, payload) => {
      await using two = await world(kind);
      // Of one message that both were pushed: b applied it, a filed it.
      expect(await two.push('b', { messageId: '99', data: RECORD })).toEqual({ status: 204, text: '' });
      const letter = letterOf(kind, payload);
      const refused = await two.pushLetter('b', letter);
      expect(refused.status).toBe(500);
      expect(refused.text).toContain('a dead letter of the pipeline "a", and this function serves "b"');
      expect(refused.text).toContain('deadLetter.acceptLettersOf: [a]');
      expect(await two.pushLetter('a', letter)).toEqual({ status: 204, text: '' });
      expect([await two.row('a'), await two.row('b')]).toEqual([once, once]);
    },
  );

  test.each(['a bulk sink', 'a staged sink'])(
    'of %s leaves what a newer record set, under keep-latest and where it deletes a column',
    async (kind) => {
      const families = { plain: { columns: { n: 'int64' } } };
      const keeping = { rowKey: '${k}', writeMode: 'keep-latest', families };
      const operation = {
        field: 'n',
        rowDelete: 'declared-families',
        values: { 1: { deleteColumns: ['plain:n'] }, 2: 'write' },
      };
      const deleting = { rowKey: '${k}', families, operation };
      await using two = await world(kind, { a: { mapping: keeping }, b: { mapping: deleting } });
      const newer = { messageId: '100', data: '{"k":"row","n":2}', publishTime: '2026-01-02T00:00:00Z' };
      for (const pipeline of ['a', 'b']) {
        expect((await two.push(pipeline, newer)).status).toBe(204);
        expect((await two.pushLetter(pipeline, letterOf(kind, 'record', { pipeline }))).status).toBe(204);
      }
      const at = (time: string): number => Date.parse(time) * 1000;
      expect(await two.row('a')).toEqual([
        expect.stringContaining(`plain:n@${at('2026-01-02T00:00:00Z')}`),
        expect.stringContaining(`plain:n@${at('2026-01-01T00:00:00Z')}`),
      ]);
      expect(await two.row('b')).toEqual([expect.stringContaining(`plain:n@${at('2026-01-02T00:00:00Z')}`)]);
    },
  );

  test.each(eachPayload.filter(([kind]) => EXACT.includes(kind)))(
    'of %s (%s) counts once however often it comes back, and beside its own message',
    async (kind, payload) => {
      await using two = await world(kind);
      const letter = letterOf(kind, payload);
      for (let times = 0; times < 3; times += 1) expect((await two.pushLetter('a', letter)).status).toBe(204);
      expect((await two.push('a', { messageId: '99', data: RECORD })).status).toBe(204);
      expect(await two.row('a')).toEqual(once);
    },
  );

  test.each(eachPayload)('of a pipeline that %s took over from (%s) is taken back too', async (kind, payload) => {
    const failure = {
      failurePolicy: 'dead-letter',
      deadLetter: { topic: 'projects/p/topics/letters', acceptLettersOf: ['old'] },
    };
    await using two = await world(kind, { a: failure });
    const letter = letterOf(kind, payload, { pipeline: 'old', table: 'a' });
    expect(await two.pushLetter('a', letter)).toEqual({ status: 204, text: '' });
    if (EXACT.includes(kind)) expect((await two.pushLetter('a', letter)).status).toBe(204);
    expect(await two.row('a')).toEqual(once);
    expect((await two.pushLetter('b', letter)).text).toContain('a dead letter of the pipeline "old"');
  });
});

describe('whoever may publish letters can write what the pipeline may, and nothing else', () => {
  const deleteRow: Mutation = { kind: 'deleteFromRow' };
  const plain: Mutation = {
    kind: 'setCell',
    family: 'plain',
    qualifier: Buffer.from('q'),
    timestampMicros: 0n,
    value: Buffer.from('forged'),
  };
  test.each(
    kinds.flatMap((kind) =>
      (
        [
          ['a table of another pipeline', { table: 'b' }, 'which the pipeline could not have named'],
          ['a family that its mapping does not declare', { mutations: [plain] }, 'the family "plain"'],
          ['the deletion of a row that its mapping never deletes', { mutations: [deleteRow] }, 'deletes its whole row'],
        ] as const
      ).map(([what, filed, words]) => [kind, what, filed, words] as const),
    ),
  )('%s is not written by for %s', async (kind, _what, filed, words) => {
    await using two = await world(kind);
    for (const pipeline of ['a', 'b']) await two.push(pipeline, { messageId: '1', data: RECORD });
    const { status, text } = await two.pushLetter('a', letterOf(kind, 'write', filed));
    // The failure policy of these pipelines is fail.
    expect(status).toBe(500);
    expect(text).toContain(words);
    expect([await two.row('a'), await two.row('b')]).toEqual([once, once]);
  });
});

describe('on the topic of the pipeline', () => {
  test.each(kinds)('attributes of a letter are attributes like others: %s', async (kind) => {
    await using two = await world(kind);
    // The bytes of an entry are no record of the mapping.
    const write = letterOf(kind, 'write');
    const refused = await two.push('a', { messageId: '100', data: write.data, attributes: write.attributes });
    expect(refused.status).toBe(500);
    expect(refused.text).toContain('failurePolicy is fail');
    const record = letterOf(kind, 'record');
    // Two messages, whatever they say of a first one, are two records.
    for (const messageId of ['200', '201']) {
      expect((await two.push('a', { messageId, data: record.data, attributes: record.attributes })).status).toBe(204);
    }
    expect(await two.row('a')).toEqual([expect.stringContaining('\u0002')]);
  });
});

test.each(kinds)('what comes by the way of letters and is none is refused: %s', async (kind) => {
  await using two = await world(kind);
  const { attributes } = letterOf(kind, 'record');
  const without = (name: string): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(attributes).filter(([key]) => key !== name));
  for (const [attributes, words] of [
    [{}, 'not a dead letter of this connector'],
    [{ ...without('dlq-connector'), 'dlq-connector': 'spanner' }, 'not a dead letter of this connector'],
    [without('dlq-original-message-id'), 'a dead letter whose dlq-original-message-id'],
    [without('dlq-record-index'), 'a dead letter whose dlq-record-index'],
    [without('dlq-original-publish-time-micros'), 'a dead letter whose dlq-original-publish-time-micros'],
  ] as const) {
    const { status, text } = await two.pushLetter('a', { data: RECORD, attributes });
    expect([status, text.slice(0, words.length)]).toEqual([500, words]);
  }
  expect(await two.row('a')).toBeUndefined();
});
