import { describe } from 'vitest';
import { startFirestoreServer } from '../../infra/local/servers/firestore/server.ts';
import { createDatabase } from '../../shared/google/firestore/database.ts';
import { withEnvironment } from '../support/environment.ts';
import { MemoryScanStore } from '../support/memory-scan-store.ts';
import { isFirestoreEmulatorMissing, skipReason, startFirestoreEmulator } from './google-firestore-emulator.ts';
import { type ScanStoreBackend, scanStoreContract } from './scan-store.ts';

scanStoreContract('the scan store in memory, which tests use', () =>
  Promise.resolve({ fresh: () => new MemoryScanStore(), close: () => Promise.resolve() }),
);

/** The client reads the variable when it is made. */
async function storesAt(address: string, stop: () => Promise<unknown>): Promise<ScanStoreBackend> {
  const database = createDatabase({ databaseId: 'connector', projectId: 'p' });
  let pipelines = 0;
  await withEnvironment({ FIRESTORE_EMULATOR_HOST: address }, async () => {
    await database.scan('first').runs.readPipeline(new AbortController().signal);
  });
  return {
    fresh: () => database.scan(`pipeline-${(pipelines += 1)}`),
    async close() {
      await database.close();
      await stop();
    },
  };
}

scanStoreContract('the scan store over Firestore, with the embedded server', async () => {
  // The limit of Google's emulator, which is below the service's.
  const server = await startFirestoreServer({ requestLimitBytes: 4 * 1024 * 1024 });
  return storesAt(server.address, () => server.close());
});

describe.skipIf(isFirestoreEmulatorMissing)(`beside Google's emulator${skipReason}`, () => {
  scanStoreContract('the scan store over Firestore', async () => {
    const { address, close } = await startFirestoreEmulator();
    return storesAt(address, close);
  });
});
