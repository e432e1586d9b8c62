import { expect, test } from 'vitest';
import { createDatabase } from '../../../../shared/google/firestore/database.ts';
import { StoreError } from '../../../../shared/model/store.ts';
import { withEnvironment } from '../../../support/environment.ts';

/** Left to itself the client ends the process here, with an unhandled rejection: that would fail this file. */
test('without credentials a call is told so, with what to do, and there is nothing to close', async () => {
  const environment = { FIRESTORE_EMULATOR_HOST: '', GOOGLE_APPLICATION_CREDENTIALS: 'no-such-key.json' };
  await withEnvironment(environment, async () => {
    const database = createDatabase({ databaseId: '(default)', projectId: 'p' });
    const { status } = database.stage('orders');
    const failure = await status.readPipeline(new AbortController().signal).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StoreError);
    expect(failure).toMatchObject({
      status: 'UNAUTHENTICATED',
      isTransient: false,
      message: expect.stringContaining('gcloud auth application-default login') as string,
    });
    await expect(database.close()).resolves.toBeUndefined();
  });
});
