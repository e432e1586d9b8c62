import { type EmbeddedOptions, startEmbeddedInChild } from '../../../infra/local/cloud/embedded.ts';
import { ensureTables } from '../../../infra/local/cloud/table-resources.ts';
import { FAMILY, MARKERS, SUMS, TABLE } from './envelopes.ts';

export interface EmbeddedServer extends AsyncDisposable {
  readonly address: string;
}

/** One embedded server in a process of its own, empty; a Bigtable has the table of the staged cases. */
export async function startServer(
  service: 'bigtable' | 'firestore',
  given: Pick<EmbeddedOptions, 'rowTransactionsPerSecond' | 'scansRows'> = {},
): Promise<EmbeddedServer> {
  const embedded = await startEmbeddedInChild({ services: [service], ...given });
  const address = embedded.addresses[service] ?? '';
  if (service === 'bigtable') await makeTable(address);
  return { address, [Symbol.asyncDispose]: () => embedded.close() };
}

export const makeTable = (address: string): Promise<void> =>
  ensureTables(address, [{ name: TABLE, families: { [FAMILY]: {}, [MARKERS]: {}, [SUMS]: { aggregate: 'sum' } } }]);
