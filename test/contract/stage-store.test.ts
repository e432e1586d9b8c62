import { describe } from 'vitest';
import { startFirestoreServer } from '../../infra/local/servers/firestore/server.ts';
import { createDatabase } from '../../shared/google/firestore/database.ts';
import { withEnvironment } from '../support/environment.ts';
import { MemoryStageStore } from '../support/memory-stage-store.ts';
import { isFirestoreEmulatorMissing, skipReason, startFirestoreEmulator } from './google-firestore-emulator.ts';
import { type StageStoreBackend, stageStoreContract } from './stage-store.ts';

stageStoreContract('the stage store in memory, which tests use', () =>
  Promise.resolve({ fresh: () => new MemoryStageStore(), close: () => Promise.resolve() }),
);

/** The client reads the variable when it is made. */
async function storesAt(address: string, stop: () => Promise<unknown>): Promise<StageStoreBackend> {
  const database = createDatabase({ databaseId: 'connector', projectId: 'p' });
  let pipelines = 0;
  await withEnvironment({ FIRESTORE_EMULATOR_HOST: address }, async () => {
    await database.stage('first').coordinator.readPipeline(new AbortController().signal);
  });
  return {
    fresh: () => database.stage(`pipeline-${(pipelines += 1)}`),
    async close() {
      await database.close();
      await stop();
    },
  };
}

stageStoreContract('the stage store over Firestore, with the embedded server', async () => {
  // The limit of Google's emulator, which is below the service's.
  const server = await startFirestoreServer({ requestLimitBytes: 4 * 1024 * 1024 });
  return storesAt(server.address, () => server.close());
});

describe.skipIf(isFirestoreEmulatorMissing)(`beside Google's emulator${skipReason}`, () => {
  stageStoreContract('the stage store over Firestore', async () => {
    const { address, close } = await startFirestoreEmulator();
    return storesAt(address, close);
  });
});
