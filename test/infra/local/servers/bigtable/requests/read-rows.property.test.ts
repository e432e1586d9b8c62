import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RowIndex } from '../../../../../../infra/local/servers/bigtable/rows/row.ts';
import { startBigtableServer, type LocalBigtable } from '../../../../../../infra/local/servers/bigtable/server.ts';
import type { RowRange } from '../../../../../../shared/proto/google/bigtable/v2/data.ts';
import {
  code,
  connect,
  createTable,
  entry,
  mutateRows,
  readRows,
  setCell,
  type RawClient,
} from '../../../../../support/bigtable-raw-client.ts';

/** Few bytes of the ends of the alphabet, so that keys collide, prefix each other and sort as unsigned bytes. */
const key = fc
  .uint8Array({ minLength: 1, maxLength: 3 })
  .map((bytes) => Buffer.from(bytes.map((byte) => [0, 97, 128, 255][byte % 4]!)));

let bigtable: LocalBigtable;
let client: RawClient;
let table: string;
let stored: Buffer[];

beforeAll(async () => {
  bigtable = await startBigtableServer();
  client = connect(bigtable.address);
  table = await createTable(client, 't', { f: {} });
  stored = fc.sample(key, { seed: 7, numRuns: 60 });
  stored = [...new Map(stored.map((each) => [each.toString('hex'), each])).values()].sort((left, right) =>
    Buffer.compare(left, right),
  );
  await mutateRows(
    client,
    table,
    stored.toReversed().map((each) => entry(each, setCell('f', 'q', 'v'))),
  );
});

afterAll(async () => {
  client.close();
  await bigtable.close();
});

const range: fc.Arbitrary<RowRange> = fc.record({
  startKey: fc.oneof(
    fc.constant(undefined),
    fc.record({ $case: fc.constantFrom('startKeyClosed' as const, 'startKeyOpen' as const), value: key }),
  ),
  endKey: fc.oneof(
    fc.constant(undefined),
    fc.record({ $case: fc.constantFrom('endKeyClosed' as const, 'endKeyOpen' as const), value: key }),
  ),
});

/** Whether the range holds the key, straight from the proto's words. */
function holds({ startKey, endKey }: RowRange, each: Buffer): boolean {
  const fromStart = startKey ? Buffer.compare(each, startKey.value) : 1;
  const fromEnd = endKey ? Buffer.compare(each, endKey.value) : -1;
  return (
    (fromStart > 0 || (fromStart === 0 && startKey?.$case === 'startKeyClosed')) &&
    (fromEnd < 0 || (fromEnd === 0 && endKey?.$case === 'endKeyClosed'))
  );
}

/** A range whose ends leave no key between them is refused. */
function isRefused({ startKey, endKey }: RowRange): boolean {
  if (!startKey || !endKey) return false;
  const order = Buffer.compare(startKey.value, endKey.value);
  return order > 0 || (order === 0 && (startKey.$case === 'startKeyOpen' || endKey.$case === 'endKeyOpen'));
}

test('ReadRows of any keys and ranges gives what a list and a predicate give', async () => {
  const property = fc.asyncProperty(
    fc.array(key, { maxLength: 4 }),
    fc.array(range, { maxLength: 4 }),
    fc.integer({ min: 0, max: 10 }),
    fc.boolean(),
    async (rowKeys, rowRanges, limit, reversed) => {
      const request = { rows: { rowKeys, rowRanges }, rowsLimit: BigInt(limit), reversed };
      if (rowRanges.some(isRefused)) {
        expect(await code(readRows(client, table, request))).toBe('INVALID_ARGUMENT');
        return;
      }
      const isAll = rowKeys.length + rowRanges.length === 0;
      const wanted = stored.filter(
        (each) => isAll || rowKeys.some((point) => point.equals(each)) || rowRanges.some((one) => holds(one, each)),
      );
      const ordered = reversed ? wanted.toReversed() : wanted;
      const expected = (limit === 0 ? ordered : ordered.slice(0, limit)).map((each) => each.toString('latin1'));
      expect((await readRows(client, table, request)).map((row) => row.key)).toEqual(expected);
    },
  );
  await fc.assert(property, { seed: 11, numRuns: 150 });
});

test('the row index keeps its order under any inserts, deletes and scans', () => {
  const step = fc.record({ kind: fc.constantFrom('put', 'put', 'put', 'delete', 'scan'), at: fc.nat({ max: 3000 }) });
  const property = fc.property(fc.array(step, { minLength: 1, maxLength: 3000, size: 'max' }), (steps) => {
    const index = new RowIndex();
    const model = new Set<string>();
    const text = (at: number): string => String(at).padStart(5, '0');
    for (const { kind, at } of steps) {
      if (kind === 'put') {
        index.getOrInsert(text(at));
        model.add(text(at));
      } else if (kind === 'delete') {
        index.delete(text(at));
        model.delete(text(at));
      } else {
        expect(index.get(text(at))?.key).toBe(model.has(text(at)) ? text(at) : undefined);
        const [first] = index.ascending(text(at), false);
        expect(first?.key).toBe([...model].filter((each) => each >= text(at)).toSorted()[0]);
      }
    }
    const expected = [...model].toSorted();
    expect(Array.from(index.ascending('', false), (row) => row.key)).toEqual(expected);
    expect(Array.from(index.descending(undefined, false), (row) => row.key)).toEqual(expected.toReversed());
    expect(index.size).toBe(expected.length);
  });
  fc.assert(property, { seed: 3, numRuns: 10 });
});

test('a scan goes on rightly when rows come and go under it', () => {
  const index = new RowIndex();
  for (let at = 0; at < 2000; at += 2) index.getOrInsert(String(at).padStart(5, '0'));
  const seen: string[] = [];
  for (const { key: at } of index.ascending('', false)) {
    seen.push(at);
    if (at === '00100') {
      index.delete('00100');
      index.delete('00102');
      index.getOrInsert('00101');
      index.getOrInsert('00000a');
    }
  }
  expect(seen.slice(49, 54)).toEqual(['00098', '00100', '00101', '00104', '00106']);
  expect(seen).not.toContain('00000a');
});
