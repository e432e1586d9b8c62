import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startBigtableServer } from '../../infra/local/servers/bigtable/server.ts';
import type { ColumnFamily } from '../../shared/proto/google/bigtable/admin/v2/table.ts';
import { addFamily, connect, createTable, type RawClient } from '../support/bigtable-raw-client.ts';
import type { ContractCase } from './bigtable-case.ts';
import { DIFFERENCES } from './bigtable-differences.ts';
import { FILTER_CASES } from './bigtable-filter-cases.ts';
import { ADMIN_CASES, READ_CASES } from './bigtable-read-cases.ts';
import { SCAN_CASES } from './bigtable-scan-cases.ts';
import { isMissing, startGoogleEmulator, whyMissing } from './google-bigtable-emulator.ts';
import { MUTATE_ROWS_CASES, SINGLE_ROW_CASES } from './bigtable-write-cases.ts';

/**
 * What the service promises, asked of the embedded server and, where the Cloud SDK has it, of Google's emulator.
 * Change-stream and backup RPCs are never asked of the emulator: they end its process.
 */
const CASES: readonly ContractCase[] = [
  ...MUTATE_ROWS_CASES,
  ...SINGLE_ROW_CASES,
  ...READ_CASES,
  ...SCAN_CASES,
  ...FILTER_CASES,
  ...ADMIN_CASES,
];

interface Backend {
  readonly address: string;
  close(): Promise<unknown>;
}

/** Families one after the other: the emulator shows them in the order of their creation, which one request leaves open. */
async function createInOrder(
  client: RawClient,
  id: string,
  families: Readonly<Record<string, Partial<ColumnFamily>>>,
  splits: readonly string[] | undefined,
): Promise<string> {
  const [first, ...others] = Object.entries(families);
  const name = await createTable(client, id, first ? Object.fromEntries([first]) : {}, splits);
  for (const [family, declared] of others) await addFamily(client, name, family, declared);
  return name;
}

function conformance(start: () => Promise<Backend>, expected: (each: ContractCase) => unknown): void {
  let backend: Backend;
  let client: RawClient;
  let tables = 0;

  beforeAll(async () => {
    backend = await start();
    client = connect(backend.address);
  });

  afterAll(async () => {
    client.close();
    await backend.close();
  });

  test.each(CASES.map((each) => [each.name, each] as const))('%s', async (_name, each) => {
    tables += 1;
    const id = `case-${tables}`;
    const answer = await each.run(client, (families, splits) => createInOrder(client, id, families, splits));
    expect(answer).toEqual(expected(each));
  });
}

describe('the embedded Bigtable answers as the service does', () => {
  conformance(
    () => startBigtableServer(),
    ({ service }) => service,
  );
});

describe.skipIf(isMissing)(`Google's emulator answers so too, but for known differences${whyMissing}`, () => {
  conformance(startGoogleEmulator, ({ name, service }) => (name in DIFFERENCES ? DIFFERENCES[name] : service));
});

test('every known difference is one, and of a case that is there', () => {
  for (const [name, answer] of Object.entries(DIFFERENCES)) {
    const found = CASES.find((each) => each.name === name);
    expect(found, name).toBeDefined();
    expect(answer, name).not.toEqual(found?.service);
  }
});
