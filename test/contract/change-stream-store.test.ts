import { describe } from 'vitest';
import { startFirestoreServer } from '../../infra/local/servers/firestore/server.ts';
import { createDatabase } from '../../shared/google/firestore/database.ts';
import { withEnvironment } from '../support/environment.ts';
import { MemoryChangeStreamStore } from '../support/memory-change-stream-store.ts';
import { changeStreamStoreContract, type ChangeStreamStoreBackend } from './change-stream-store.ts';
import { isFirestoreEmulatorMissing, skipReason, startFirestoreEmulator } from './google-firestore-emulator.ts';

changeStreamStoreContract('the store of a change stream in memory, which tests use', () =>
  Promise.resolve({ fresh: () => new MemoryChangeStreamStore(), close: () => Promise.resolve() }),
);

/** The client reads the variable when it is made. */
async function storesAt(address: string, stop: () => Promise<unknown>): Promise<ChangeStreamStoreBackend> {
  const database = createDatabase({ databaseId: 'connector', projectId: 'p' });
  let pipelines = 0;
  await withEnvironment({ FIRESTORE_EMULATOR_HOST: address }, async () => {
    await database.changeStream('first').slots.readSource(new AbortController().signal);
  });
  return {
    fresh: () => database.changeStream(`pipeline-${(pipelines += 1)}`),
    async close() {
      await database.close();
      await stop();
    },
  };
}

changeStreamStoreContract('the store of a change stream over Firestore, with the embedded server', async () => {
  // The limit of Google's emulator, which is below the service's.
  const server = await startFirestoreServer({ requestLimitBytes: 4 * 1024 * 1024 });
  return storesAt(server.address, () => server.close());
});

describe.skipIf(isFirestoreEmulatorMissing)(`beside Google's emulator${skipReason}`, () => {
  changeStreamStoreContract('the store of a change stream over Firestore', async () => {
    const { address, close } = await startFirestoreEmulator();
    return storesAt(address, close);
  });
});
