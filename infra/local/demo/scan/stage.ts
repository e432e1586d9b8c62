import { fileURLToPath } from 'node:url';
import { type TableName, tableName, tablePath } from '../../../../shared/model/table-name.ts';
import { loadTableDeclarations } from '../../cloud/table-declarations.ts';
import { ensureTables } from '../../cloud/table-resources.ts';
import type { LocalConnector } from '../../run/connector.ts';
import type { LocalBigtable } from '../../servers/bigtable/server.ts';
import { loadFlights, FLIGHTS } from '../base/flights.ts';
import { openServers, type Servers } from '../base/platform.ts';
import { type TablePlan, tableRows } from './rows.ts';

/** What stands before a function runs: the servers, and the table with its rows. */

const TABLES = fileURLToPath(new URL('tables.yaml', import.meta.url));
export const TABLE = tableName('local', 'demo', 'flights');
export const COPY = tableName('local', 'demo', 'flights-copy');

/** Above it the service here refuses to read a row: the real one does so at 256 MiB. */
const READ_ROW_BYTES = 1024 * 1024;

/** Divides the waiting times of Pub/Sub. */
const TIME_SCALE = 10;

/** @param functionTimeScale slots are leased by Firestore's clock, which has to keep up with theirs. */
export async function openTable(plan: TablePlan, functionTimeScale: number | undefined): Promise<Servers> {
  await using opened = new AsyncDisposableStack();
  const servers = opened.use(
    await openServers({
      ...{ timeScale: TIME_SCALE, readRowBytes: READ_ROW_BYTES },
      ...(functionTimeScale !== undefined && { firestoreTimeScale: functionTimeScale }),
    }),
  );
  await ensureTables(servers.cloud.bigtableHost, await loadTableDeclarations(TABLES, TABLE));
  const flights = await loadFlights(Math.min(FLIGHTS, plan.rows));
  servers.servers.bigtable.fill(tablePath(TABLE), tableRows(flights, plan, READ_ROW_BYTES + 1));
  opened.move();
  return servers;
}

/** The subscription by which what a deployment of one scan publishes is pulled. */
export function readerOf({ plan }: LocalConnector, purpose: 'output' | 'dead-letters'): string {
  const found = plan.subscriptions.find((subscription) => subscription.purpose === purpose);
  if (!found) throw new TypeError(`the plan has no subscription for ${purpose}`);
  return found.name;
}

/** By the server's own count. */
export const rowsOf = (bigtable: LocalBigtable, table: TableName): number =>
  bigtable.tables().find(({ name }) => name === tablePath(table))?.rows ?? 0;
