import { afterEach, beforeEach, expect, test } from 'vitest';
import { startBigtableServer, type LocalBigtable } from '../../../../../infra/local/servers/bigtable/server.ts';
import {
  aggregate,
  aggregateFamily,
  append,
  checkAndMutate,
  code,
  connect,
  createTable,
  entry,
  increment,
  mutateRows,
  outcome,
  readModifyWrite,
  readRows,
  setCell,
  statuses,
  type RawClient,
} from '../../../../support/bigtable-raw-client.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

const START_MILLIS = 1_700_000_000_123;

let clock: ManualClock;
let bigtable: LocalBigtable;
let client: RawClient;
let table: string;

beforeEach(async () => {
  clock = new ManualClock(START_MILLIS);
  bigtable = await startBigtableServer({
    clock,
    limits: { valueBytes: 100, entryBytes: 150, mutations: 3 },
    profiles: {
      many: { singleCluster: false, transactional: true },
      plain: { singleCluster: true, transactional: false },
    },
  });
  client = connect(bigtable.address);
  table = await createTable(client, 't', {
    f: {},
    aged: { gcRule: { rule: { $case: 'maxAge', value: { seconds: 60n, nanos: 0 } } } },
    sum: aggregateFamily('sum'),
  });
});

afterEach(async () => {
  client.close();
  await bigtable.close();
});

test.each([
  { name: 'a value', entries: [entry('a', setCell('f', 'q', 'v'.repeat(101)))] },
  { name: 'an entry', entries: [entry('a', setCell('f', 'p', 'v'.repeat(90)), setCell('f', 'q', 'v'.repeat(90)))] },
  { name: 'an entry in mutations', entries: [entry('a', ...Array.from({ length: 4 }, () => setCell('f', 'q', 'v')))] },
  {
    name: 'a request in mutations',
    entries: ['a', 'b'].map((key) => entry(key, setCell('f', 'p', 'v'), setCell('f', 'q', 'v'))),
  },
])('$name over its limit refuses the request', async ({ entries }) => {
  expect(await code(mutateRows(client, table, entries))).toBe('INVALID_ARGUMENT');
  expect(await readRows(client, table)).toEqual([]);
});

test('what is just at its limit is applied', async () => {
  const entries = [entry('a', setCell('f', 'q', 'v'.repeat(100)), setCell('f', 'r', ''), setCell('f', 's', ''))];
  expect(statuses(await mutateRows(client, table, entries))).toEqual([[0, 'OK']]);
});

test('a refusal names the entry and the rule', async () => {
  const entries = [entry('a', setCell('f', 'q', 'v')), entry('b', setCell('f', 'q', 'v', 1n))];
  expect(await outcome(mutateRows(client, table, entries))).toBe(
    'INVALID_ARGUMENT: Error in entry 1: Timestamp granularity mismatch. Expected a multiple of 1000 (millisecond granularity), but got 1.',
  );
});

test('a cell of server time gets the server’s milliseconds', async () => {
  await mutateRows(client, table, [entry('a', setCell('f', 'q', 'v', -1n))]);
  expect(await readRows(client, table)).toEqual([{ key: 'a', cells: [`f:q@${START_MILLIS}000=v`] }]);
});

test('a cell past its family’s age is gone from reads and from conditions', async () => {
  await mutateRows(client, table, [entry('a', setCell('aged', 'q', 'v', -1n))]);
  const condition = { tableName: table, rowKey: Buffer.from('a'), falseMutations: [setCell('f', 'q', 'late')] };
  await clock.advance(60_000);
  expect(await checkAndMutate(client, condition)).toBe(true);
  await clock.advance(1);
  expect(await readRows(client, table)).toEqual([]);
  expect(await checkAndMutate(client, condition)).toBe(false);
});

test.each([
  { profile: '', status: 'OK' },
  { profile: 'default', status: 'OK' },
  { profile: 'many', status: 'FAILED_PRECONDITION: Single-row transactions are not allowed by this app profile' },
  { profile: 'plain', status: 'FAILED_PRECONDITION: Single-row transactions are not allowed by this app profile' },
  { profile: 'absent', status: 'NOT_FOUND: App profile not found: absent' },
])('single-row transactions through the profile "$profile": $status', async ({ profile, status }) => {
  const request = { tableName: table, appProfileId: profile, rowKey: Buffer.from('a') };
  const conditional = checkAndMutate(client, { ...request, falseMutations: [setCell('f', 'q', 'v')] });
  expect(await outcome(conditional)).toBe(status);
  expect(await outcome(readModifyWrite(client, { ...request, rules: [append('f', 'q', 'v')] }))).toBe(status);
});

test('a profile without transactions takes bulk writes', async () => {
  expect(await code(mutateRows(client, table, [entry('a', setCell('f', 'q', 'v'))], { profile: 'many' }))).toBe('OK');
});

test('a read-modify-write is never stamped earlier than the cell that it replaces', async () => {
  const future = BigInt(START_MILLIS + 5000) * 1000n;
  await mutateRows(client, table, [entry('a', setCell('f', 'q', 'old', future))]);
  await readModifyWrite(client, { tableName: table, rowKey: Buffer.from('a'), rules: [append('f', 'q', '+')] });
  expect(await readRows(client, table)).toEqual([{ key: 'a', cells: [`f:q@${future}=old+`] }]);
});

test('a counter that leaves int64 wraps around', async () => {
  const rules = [increment('f', 'n', 2n ** 63n - 1n), increment('f', 'n', 1n)];
  const [cell = ''] = await readModifyWrite(client, { tableName: table, rowKey: Buffer.from('a'), rules });
  expect(Buffer.from(cell.slice(-8), 'latin1').readBigInt64BE()).toBe(-(2n ** 63n));
});

test('aggregates refuse a read-modify-write', async () => {
  const request = { tableName: table, rowKey: Buffer.from('a'), rules: [increment('sum', 'n', 1n)] };
  expect(await code(readModifyWrite(client, request))).toBe('INVALID_ARGUMENT');
});

test('an entry that is sent again with its idempotency token adds nothing for 15 minutes', async () => {
  const idempotency = { token: Buffer.from('12345678'), startTime: undefined };
  const add = { ...entry('a', aggregate('addToCell', 'sum', { $case: 'intValue', value: 5n })), idempotency };
  const sum = async (): Promise<bigint | undefined> => {
    const [row] = await readRows(client, table);
    return row && Buffer.from(row.cells[0]?.slice(-8) ?? '', 'latin1').readBigInt64BE();
  };
  await mutateRows(client, table, [add]);
  await mutateRows(client, table, [add]);
  expect(await sum()).toBe(5n);
  await mutateRows(client, table, [{ ...add, rowKey: Buffer.from('b') }]);
  await clock.advance(15 * 60_000);
  await mutateRows(client, table, [add]);
  expect(await sum()).toBe(10n);
  const short = { ...add, idempotency: { ...idempotency, token: Buffer.from('1234567') } };
  expect(await code(mutateRows(client, table, [short]))).toBe('INVALID_ARGUMENT');
});
