import { startChild, untilChildAnswers } from '../../../../infra/local/base/child-process.ts';
import { findEmulator } from '../../../../infra/local/cloud/cloud-sdk.ts';
import { startEmbeddedInChild } from '../../../../infra/local/cloud/embedded.ts';
import { ensureTables } from '../../../../infra/local/cloud/table-resources.ts';
import { freePort, LOOPBACK } from '../../../../infra/local/base/tcp.ts';
import { FAMILY, TABLE } from '../rows.ts';

export interface ImportServer extends AsyncDisposable {
  readonly address: string;
}

/** Google's emulator where the Cloud SDK has it, else the embedded server; in both an empty table. */
export async function startImportServer(): Promise<ImportServer> {
  const server = await startServer();
  await ensureTables(server.address, [{ name: TABLE, families: { [FAMILY]: {} } }]);
  return server;
}

/** For the report. */
export const importServerName = async (): Promise<string> =>
  'found' in (await findEmulator('bigtable')) ? "Google's emulator" : 'the embedded server';

const READY_MILLIS = 15_000;

async function startServer(): Promise<ImportServer> {
  const search = await findEmulator('bigtable');
  if ('missing' in search) {
    const embedded = await startEmbeddedInChild({ services: ['bigtable'] });
    return { address: embedded.addresses.bigtable ?? '', [Symbol.asyncDispose]: () => embedded.close() };
  }
  const port = await freePort();
  const address = `${LOOPBACK}:${port}`;
  const name = "Google's Bigtable emulator";
  const emulator = search.found;
  const child = await startChild({ name, command: emulator.command, args: emulator.args(port) });
  await untilChildAnswers(child, name, address, READY_MILLIS);
  return {
    address,
    async [Symbol.asyncDispose]() {
      await child.kill();
    },
  };
}
