import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBigtableServer, type LocalBigtable } from '../../../../../infra/local/servers/bigtable/server.ts';
import { createLogger } from '../../../../../shared/base/logging.ts';
import {
  code,
  connect,
  createTable,
  deleteRow,
  entry,
  firstMessage,
  messages,
  mutateRows,
  readRequest,
  readRows,
  setCell,
  statuses,
  type RawClient,
} from '../../../../support/bigtable-raw-client.ts';

let bigtable: LocalBigtable;
let client: RawClient;

beforeAll(async () => {
  bigtable = await startBigtableServer();
  client = connect(bigtable.address);
});

afterAll(async () => {
  client.close();
  await bigtable.close();
});

test('what MutateRows wrote is read back in key order, each entry answered by its index', async () => {
  const table = await createTable(client, 'written', { f: {} });
  const answers = await mutateRows(client, table, [
    entry('b', setCell('f', 'q', 'two', 2000n)),
    entry('a', setCell('f', 'q', 'one'), setCell('f', 'p', 'zero')),
  ]);
  expect(statuses(answers)).toEqual([
    [0, 'OK'],
    [1, 'OK'],
  ]);
  expect(await readRows(client, table)).toEqual([
    { key: 'a', cells: ['f:p@1000=zero', 'f:q@1000=one'] },
    { key: 'b', cells: ['f:q@2000=two'] },
  ]);
  expect(bigtable.tables()).toEqual([{ name: table, families: ['f'], rows: 2 }]);
  expect(bigtable.requestCounts()).toEqual({ CreateTable: 1, MutateRows: 1, ReadRows: 1 });
});

test('a reader that pauses stops the scan behind it', async () => {
  const table = await createTable(client, 'large', { f: {} });
  const value = Buffer.alloc(64 * 1024);
  for (let batch = 0; batch < 3; batch += 1) {
    const keys = Array.from({ length: 100 }, (_, index) => `${batch}-${String(index).padStart(3, '0')}`);
    await mutateRows(
      client,
      table,
      keys.map((key) => entry(key, setCell('f', 'q', value))),
    );
  }
  const scan = client.data.readRows(readRequest(table));
  const end = new Promise((resolve) => scan.on('error', resolve).on('end', resolve));
  await firstMessage(scan);
  // The scan is ahead of its reader by what the buffers between them hold; these rows are far behind that.
  await new Promise((resolve) => setTimeout(resolve, 200));
  const late = Array.from({ length: 100 }, (_, index) => entry(`2-${String(index).padStart(3, '0')}`, deleteRow));
  await mutateRows(client, table, late);
  const rest = await messages(scan);
  await end;
  const rows = rest.flatMap(({ chunks }) => chunks.filter(({ rowStatus }) => rowStatus?.$case === 'commitRow'));
  expect(rows.length).toBeLessThanOrEqual(200);
  expect(rows.length).toBeGreaterThan(150);
});

test('a call that its caller gave up is not a defect of the server', async () => {
  const lines: string[] = [];
  const logged = await startBigtableServer({ log: createLogger({}, (line) => lines.push(line)) });
  const own = connect(logged.address);
  try {
    const table = await createTable(own, 't', { f: {} });
    logged.faults.stall();
    const given = mutateRows(own, table, [entry('a', setCell('f', 'q', 'v'))], { deadlineMillis: 50 });
    expect(await code(given)).toBe('DEADLINE_EXCEEDED');
    logged.faults.resume();
    expect(await code(mutateRows(own, table, [entry('b', setCell('f', 'q', 'v'))]))).toBe('OK');
    expect(lines).toEqual([]);
  } finally {
    own.close();
    await logged.close();
  }
});
