import { startFirestoreServer } from '../../infra/local/firestore/server.ts';
import { createStageDatabase } from '../../shared/google/firestore/stage-database.ts';
import { withEnvironment } from '../support/environment.ts';
import { MemoryStageStore } from '../support/memory-stage-store.ts';
import { type StageStoreBackend, stageStoreContract } from './stage-store.ts';

stageStoreContract('the stage store in memory, which tests use', () =>
  Promise.resolve({ fresh: () => new MemoryStageStore(), close: () => Promise.resolve() }),
);

/** The client reads the variable when it is made. */
async function storesAt(address: string, stop: () => Promise<unknown>): Promise<StageStoreBackend> {
  const database = createStageDatabase({ databaseId: 'connector', projectId: 'p' });
  let pipelines = 0;
  await withEnvironment({ FIRESTORE_EMULATOR_HOST: address }, async () => {
    await database.stores('first').coordinator.readPipeline(new AbortController().signal);
  });
  return {
    fresh: () => database.stores(`pipeline-${(pipelines += 1)}`),
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
