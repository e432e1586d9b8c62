import { describe, expect, test } from 'vitest';
import type { Mutation } from '../../../shared/proto/google/bigtable/v2/data.ts';
import { type SinkHarness, startSink } from '../../support/sink-harness.ts';
import { badEntry, badLine, entryBytes, entryLine, goodEntry, setCell, unsentEntry } from '../../support/test-entry.ts';

/** Records that the service refuses the whole request for, whatever else is in it. */
const startNdjson = (): Promise<SinkHarness> => startSink({ pipeline: { framing: 'ndjson' }, deadLetters: 'topic' });

const pushLines = async (sink: SinkHarness, lines: readonly string[]): Promise<number> =>
  (await sink.push({ data: lines.join('\n') })).status;

const keys = async (sink: SinkHarness): Promise<string[]> => (await sink.rows()).map(({ key }) => key);

const letterIndexes = async (sink: SinkHarness): Promise<number[]> =>
  (await sink.letters()).map(({ attributes }) => Number(attributes['dlq-record-index'])).toSorted((a, b) => a - b);

/** Rows `row-00`, `row-01` …, of which those at `bad` are refused. */
const linesWithBad = (count: number, bad: readonly number[]): string[] =>
  Array.from({ length: count }, (_, index) => {
    const key = `row-${String(index).padStart(2, '0')}`;
    return bad.includes(index) ? badLine(key) : entryLine(key, 'v');
  });

describe('bad entries among good ones', () => {
  test.each([
    { bad: [37], what: 'one of 64' },
    { bad: [0], what: 'the first of 64' },
    { bad: [3, 50], what: 'two far apart' },
    { bad: [30, 31], what: 'two neighbours' },
    { bad: [1, 9, 33, 34, 63], what: 'five' },
  ])('$what: only they are dead-lettered, all others are applied, for about k·log n requests', async ({ bad }) => {
    await using sink = await startNdjson();
    expect(await pushLines(sink, linesWithBad(64, bad))).toBe(204);
    expect(await letterIndexes(sink)).toEqual(bad);
    expect(await keys(sink)).toHaveLength(64 - bad.length);
    expect(sink.requests.length).toBeLessThanOrEqual(1 + 2 * bad.length * Math.log2(64));
    expect(sink.count('recordsApplied')).toBe(64 - bad.length);
    expect(sink.count('errorClass.errors', 'INVALID_ARGUMENT')).toBe(bad.length);
  });

  test('all bad: each is refused alone before it is dead-lettered', async () => {
    await using sink = await startNdjson();
    expect(await pushLines(sink, linesWithBad(8, [0, 1, 2, 3, 4, 5, 6, 7]))).toBe(204);
    expect(await letterIndexes(sink)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(await keys(sink)).toEqual([]);
    expect(sink.requests.filter(({ entries }) => entries.length === 1)).toHaveLength(8);
    // By halves until four of them are known to be bad, then one by one.
    expect(sink.requests).toHaveLength(8 + 4);
  });

  test('a lone bad entry costs one request', async () => {
    await using sink = await startSink({ deadLetters: 'topic' });
    expect((await sink.push({ data: badEntry('row') })).status).toBe(204);
    expect(sink.requests).toHaveLength(1);
    expect(await sink.letters()).toHaveLength(1);
  });

  test('in messages that are pushed at once, every message is answered for its own record', async () => {
    await using sink = await startSink({ deadLetters: 'topic' });
    const pushes = Array.from({ length: 60 }, (_, index) =>
      sink.push({ messageId: `m${index}`, data: index % 20 === 7 ? badEntry(`r${index}`) : goodEntry(`r${index}`) }),
    );
    expect(new Set((await Promise.all(pushes)).map(({ status }) => status))).toEqual(new Set([204]));
    const ids = (await sink.letters()).map(({ attributes }) => attributes['dlq-original-message-id']);
    expect(ids.toSorted()).toEqual(['m27', 'm47', 'm7']);
    expect(await keys(sink)).toHaveLength(57);
  });

  test('what is refused once and applied when it is asked for alone is nobody’s fault', async () => {
    await using sink = await startNdjson();
    const status = { code: 'INVALID_ARGUMENT', message: 'of its neighbours' } as const;
    const statuses = new Map([0, 1, 2, 3].map((index) => [index, status]));
    sink.bigtable.faults.add({ method: 'MutateRows', effect: { kind: 'entry-statuses', statuses } });
    expect(await pushLines(sink, linesWithBad(4, []))).toBe(204);
    expect(await keys(sink)).toHaveLength(4);
    expect(await sink.letters()).toEqual([]);
  });
});

describe('a bad record of a hot row', () => {
  test('its neighbours of the same row are applied in order, and only it is blamed', async () => {
    await using sink = await startNdjson();
    const lines = [entryLine('hot', 'a'), entryLine('hot', 'b'), badLine('hot'), entryLine('hot', 'c')];
    expect(await pushLines(sink, lines)).toBe(204);
    expect(await letterIndexes(sink)).toEqual([2]);
    expect(await sink.rows()).toEqual([{ key: 'hot', cells: ['f:q@1000=c'] }]);
    // One merged entry of four mutations, then its halves, in the order of arrival.
    expect(sink.requests.map(({ entries }) => entries.map(({ mutations }) => mutations.length))).toEqual([
      [4],
      [2],
      [2],
      [1],
      [1],
    ]);
    const values = sink.requests.slice(1).map(({ entries: [entry] }) => entry?.mutations.map(valueOf));
    expect(values).toEqual([['a', 'b'], ['', 'c'], [''], ['c']]);
  });

  test('other rows of the request are cleared without being taken apart', async () => {
    await using sink = await startNdjson();
    const lines = [
      entryLine('x', '1'),
      entryLine('hot', 'a'),
      badLine('hot'),
      entryLine('hot', 'b'),
      entryLine('y', '2'),
    ];
    expect(await pushLines(sink, lines)).toBe(204);
    expect(await letterIndexes(sink)).toEqual([2]);
    expect(await sink.rows()).toEqual([
      { key: 'hot', cells: ['f:q@1000=b'] },
      { key: 'x', cells: ['f:q@1000=1'] },
      { key: 'y', cells: ['f:q@1000=2'] },
    ]);
  });
});

const valueOf = ({ mutation }: Mutation): string =>
  mutation?.$case === 'setCell' ? mutation.value.value.toString() : '';

describe('the ways in which an entry is bad', () => {
  test.each([
    ['an empty row key', entryBytes('', setCell('v')), 'the row key must not be empty'],
    ['a row key above 4 KiB', entryBytes('k'.repeat(4097), setCell('v')), '4096'],
    ['a timestamp that is no whole millisecond', entryBytes('row', setCell('v', 1001n)), 'multiple of 1000'],
    ['versions from no whole millisecond', unsentEntry('row'), 'multiple of 1000'],
    ['a negative timestamp other than -1', entryBytes('row', setCell('v', -2n)), 'must be from -1 to'],
    ['a qualifier above 16 KiB', entryBytes('row', setCell('v', 0n, 'f', 'q'.repeat(16_385))), '16384'],
    ['the name of no family', entryBytes('row', setCell('v', 0n, 'f:q')), 'letters, digits'],
    ['an aggregate’s input for a family that is none', badEntry('row'), 'aggregate'],
  ])('%s is dead-lettered with the rule that it breaks; its row is not written', async (_, data, words) => {
    await using sink = await startSink({ deadLetters: 'topic' });
    expect((await sink.push({ data })).status).toBe(204);
    const [letter] = await sink.letters();
    expect(letter?.attributes['dlq-error']).toContain(words);
    expect(letter?.attributes['dlq-reason']).toBe('rejected');
    expect(letter?.data.equals(data)).toBe(true);
    expect(await sink.rows()).toEqual([]);
  });

  test('an entry without mutations never reaches Bigtable', async () => {
    await using sink = await startSink({ deadLetters: 'topic' });
    expect((await sink.push({ data: entryBytes('row') })).status).toBe(204);
    expect((await sink.letters()).map(({ attributes }) => attributes['dlq-reason'])).toEqual(['serializer']);
    expect(sink.requests).toEqual([]);
  });
});
