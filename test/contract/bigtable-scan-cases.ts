import type { RowRange } from '../../shared/proto/google/bigtable/v2/data.ts';
import {
  code,
  entry,
  messages,
  mutateRows,
  type RawClient,
  readRequest,
  readRows,
  setCell,
} from '../support/bigtable-raw-client.ts';
import type { ContractCase, CreateTable } from './bigtable-case.ts';

const KEYS = ['a', 'b', 'c', 'd'];

async function keysOf(client: RawClient, create: CreateTable, range: RowRange): Promise<string> {
  const table = await create({ f: {} });
  await mutateRows(
    client,
    table,
    KEYS.map((key) => entry(key, setCell('f', 'q', key))),
  );
  const rows = await readRows(client, table, { rows: { rowKeys: [], rowRanges: [range] } });
  return rows.map(({ key }) => key).join('');
}

const NO_BYTES = Buffer.alloc(0);

/** What reading splits of a table relies on. */
export const SCAN_CASES: readonly ContractCase[] = [
  {
    name: 'a range whose bounds are empty keys is the whole table',
    run: (client, create) =>
      keysOf(client, create, {
        startKey: { $case: 'startKeyClosed', value: NO_BYTES },
        endKey: { $case: 'endKeyOpen', value: NO_BYTES },
      }),
    service: 'abcd',
  },
  {
    name: 'a range that is closed at one key on both sides is its row',
    run: (client, create) =>
      keysOf(client, create, {
        startKey: { $case: 'startKeyClosed', value: Buffer.from('b') },
        endKey: { $case: 'endKeyClosed', value: Buffer.from('b') },
      }),
    service: 'b',
  },
  {
    name: 'a range between a key and its successor is refused or empty, and never more',
    run: (client, create) =>
      keysOf(client, create, {
        startKey: { $case: 'startKeyOpen', value: Buffer.from('b') },
        endKey: { $case: 'endKeyOpen', value: Buffer.from('b\0') },
      }).catch(() => ''),
    service: '',
  },
  {
    name: 'a ReadRows request above 512 KiB is INVALID_ARGUMENT',
    async run(client, create) {
      const table = await create({ f: {} });
      const rowKeys = Array.from({ length: 52_500 }, (_, index) => Buffer.from(String(index).padStart(8, '0')));
      return code(messages(client.data.readRows(readRequest(table, { rows: { rowKeys, rowRanges: [] } }))));
    },
    service: 'INVALID_ARGUMENT',
  },
];
