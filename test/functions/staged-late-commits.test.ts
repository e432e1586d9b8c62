import { expect, onTestFinished, test } from 'vitest';
import { createDatabase } from '../../shared/google/firestore/database.ts';
import { CommitRequest } from '../../shared/proto/google/firestore/v1/firestore.ts';
import type { StatusStore } from '../../shared/staged/ports.ts';
import { counting, sumOfRow } from '../support/counting-record.ts';
import { commit, connect } from '../support/firestore-raw-client.ts';
import { PIPELINE, type StagedHarness, startStaged } from '../support/staged-harness.ts';

/**
 * Firestore's client repeats a commit by itself for up to ten minutes, so each commit of the two functions may land once
 * more at any later time. Here it does, between every two steps.
 */
const signal = AbortSignal.timeout(60_000);

/** Every commit that the functions have sent, to be sent once more as it was. */
function recordCommits({ firestore }: StagedHarness): (holds: (request: CommitRequest) => boolean) => Promise<void> {
  const requests: Buffer[] = [];
  firestore.faults.add({
    method: 'Commit',
    times: Infinity,
    // Seen, and left alone.
    where: (request) => {
      requests.push(Buffer.from(CommitRequest.encode(request as CommitRequest).finish()));
      return false;
    },
    effect: { kind: 'delay', delayMillis: 0 },
  });
  const client = connect(firestore.address);
  onTestFinished(() => {
    client.close();
  });
  return async (holds) => {
    const found = requests.map((bytes) => CommitRequest.decode(bytes)).filter(holds);
    expect(found).not.toEqual([]);
    // A precondition may refuse the repeat, as it would the client's.
    for (const request of found) await commit(client, request.writes).catch(() => undefined);
  };
}

function statusOf(): StatusStore {
  const database = createDatabase({ databaseId: '(default)', projectId: 'p' });
  onTestFinished(() => database.close());
  return database.stage(PIPELINE).status;
}

const isStaging = ({ writes }: CommitRequest): boolean =>
  writes.some(({ operation }) => operation?.$case === 'update' && operation.value.name.includes('/segments/'));
const isFinishing = ({ writes }: CommitRequest): boolean =>
  writes.some(({ operation }) => operation?.$case === 'delete' && operation.value.includes('/segments/'));

test('a segment that is made and finished once more does not commit a checkpoint of which another is left', async () => {
  await using staged = await startStaged();
  const repeat = recordCommits(staged);
  const status = statusOf();
  const committed = async (): Promise<number | undefined> => (await status.readPipeline(signal))?.value.committed;
  expect(await staged.push({ messageId: '1', data: counting('one') })).toMatchObject({ status: 204 });
  const [first] = await status.readLowest(10, signal);
  if (!first) throw new Error('nothing is staged');
  expect(await staged.push({ messageId: '2', data: counting('two') })).toMatchObject({ status: 204 });
  const [work] = await staged.tick();
  if (!work) throw new Error('no work was sent');

  const only = { ...work, ranges: [], segments: [first.id] };
  expect(await staged.commit(only)).toMatchObject({ status: 204 });
  await repeat(isStaging);
  await repeat(isFinishing);
  await staged.tick();
  expect(await committed()).toBe(0);
  expect(await status.readLowest(10, signal)).toHaveLength(1);

  expect(await staged.commit(work)).toMatchObject({ status: 204 });
  await staged.tick();
  expect(await committed()).toBe(1);
  expect([await sumOfRow(staged, 'one'), await sumOfRow(staged, 'two')]).toEqual([1n, 1n]);
});

test('a segment that is made once more after its checkpoint was committed is sent, found applied and finished', async () => {
  await using staged = await startStaged();
  const repeat = recordCommits(staged);
  const status = statusOf();
  await staged.push({ messageId: '1', data: counting('one') });
  for (const work of await staged.tick()) await staged.commit(work);
  await staged.tick();
  await repeat(isStaging);
  expect(await status.readLowest(10, signal)).toHaveLength(1);

  for (const work of await staged.tick()) expect(await staged.commit(work)).toMatchObject({ status: 204 });
  expect(await status.readLowest(10, signal)).toEqual([]);
  expect(await sumOfRow(staged, 'one')).toBe(1n);
  expect(staged.count('requestsDeduplicated')).toBe(1);
});
