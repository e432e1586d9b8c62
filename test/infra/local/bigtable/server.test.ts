import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBigtableServer, type LocalBigtable } from '../../../../infra/local/bigtable/server.ts';
import {
  connect,
  createTable,
  entry,
  mutateRows,
  readRows,
  setCell,
  statuses,
  type RawClient,
} from '../../../support/bigtable-raw-client.ts';

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
