import { describe } from 'vitest';
import { startChild, untilChildAnswers } from '../../infra/local/base/child-process.ts';
import { findEmulator } from '../../infra/local/cloud/cloud-sdk.ts';
import { startFirestoreServer } from '../../infra/local/servers/firestore/server.ts';
import { freePort, LOOPBACK } from '../../infra/local/base/tcp.ts';
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

const emulator = await findEmulator('firestore');
const reason = 'missing' in emulator ? ` (skipped: ${emulator.missing})` : '';

describe.skipIf('missing' in emulator)(`beside Google's emulator${reason}`, () => {
  stageStoreContract('the stage store over Firestore', async () => {
    if (!('found' in emulator)) throw new Error(emulator.missing);
    const port = await freePort();
    const name = "Google's firestore emulator";
    const child = await startChild({ name, command: emulator.found.command, args: emulator.found.args(port) });
    const address = `${LOOPBACK}:${port}`;
    await untilChildAnswers(child, name, address, 25_000);
    return storesAt(address, () => child.stop());
  });
});
