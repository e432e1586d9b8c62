import { expect, test } from 'vitest';
import { codeOfCluster } from '../../../../shared/staged/commit/cluster-guard.ts';
import type { CommitterHarness } from '../../../support/committer-harness.ts';
import { committing } from '../../../support/committer-harness.ts';
import { addition, envelopeOf, rowEntry } from '../../../support/envelopes.ts';

const IN_C2 = codeOfCluster({ instance: 'p.i', cluster: 'c2' });

const oneMore = (number: number, appProfileId = ''): ReturnType<typeof envelopeOf> =>
  envelopeOf(number, rowEntry('row', addition(1n)), { appProfileId });

const routeTo = ({ admin }: CommitterHarness, cluster: string): void => {
  admin.profile = { kind: 'found', isSingleCluster: true, isTransactional: true, cluster };
};

/** A pipeline whose first checkpoint was written through a profile of the cluster c1. */
async function drainedInC1(): Promise<CommitterHarness> {
  const harness = committing();
  await harness.checkpoint(1, { a: [oneMore(1)] });
  await harness.commit(1);
  expect(harness.table.sum).toBe(1n);
  return harness;
}

test('the first cluster that is found is noted once, and asks for nothing more', async () => {
  const harness = await drainedInC1();
  await harness.checkpoint(2, { b: [oneMore(2)] });
  await harness.commit(2);
  expect(harness.table.sum).toBe(2n);
  expect(harness.store.calls.filter(({ method }) => method === 'noteCluster')).toHaveLength(1);
});

test('a profile that was failed over writes nothing: the work is sent again, nothing is set apart, and the answer says what to do', async () => {
  const harness = await drainedInC1();
  routeTo(harness, 'c2');
  await harness.checkpoint(2, { b: [oneMore(2)] });
  const committer = harness.newCommitter();
  await expect(harness.commit(2, { committer })).rejects.toMatchObject({
    reason: 'changed',
    message: expect.stringMatching(
      new RegExp(
        `routes to the cluster c2, and the markers of this pipeline are in c1.*drain.*confirmChange: ${IN_C2}`,
      ),
    ) as string,
  });
  expect(harness.table.sum).toBe(1n);
  expect(harness.store.rests).toEqual([]);
  expect(harness.store.segments).toHaveLength(1);
});

test('a profile that is routed back writes again, at once', async () => {
  const harness = await drainedInC1();
  routeTo(harness, 'c2');
  await harness.checkpoint(2, { b: [oneMore(2)] });
  const committer = harness.newCommitter();
  await expect(harness.commit(2, { committer })).rejects.toThrow('c2');
  routeTo(harness, 'c1');
  await harness.commit(2, { committer });
  expect(harness.table.sum).toBe(2n);
});

test('a cluster that is confirmed takes the place of the other, and the other is refused from then on', async () => {
  const harness = await drainedInC1();
  routeTo(harness, 'c2');
  await harness.checkpoint(2, { b: [oneMore(2)] });
  await harness.commit(2, { committer: harness.newCommitter(undefined, IN_C2) });
  await harness.checkpoint(3, { c: [oneMore(3)] });
  // An instance of a revision that does not confirm anything finds the cluster that holds.
  await harness.commit(3, { committer: harness.newCommitter() });
  expect(harness.table.sum).toBe(3n);
  routeTo(harness, 'c1');
  await harness.checkpoint(4, { d: [oneMore(4)] });
  await expect(harness.commit(4, { committer: harness.newCommitter(undefined, IN_C2) })).rejects.toThrow(
    'routes to the cluster c1, and the markers of this pipeline are in c2',
  );
});

test('a code that is confirmed for another cluster confirms nothing', async () => {
  const harness = await drainedInC1();
  routeTo(harness, 'c3');
  await harness.checkpoint(2, { b: [oneMore(2)] });
  const committer = harness.newCommitter(undefined, IN_C2);
  await expect(harness.commit(2, { committer })).rejects.toMatchObject({ reason: 'changed' });
});

test('another profile of the same cluster is no change, and one of another cluster is', async () => {
  const harness = await drainedInC1();
  await harness.checkpoint(2, { b: [oneMore(2, 'second')] });
  await harness.commit(2);
  routeTo(harness, 'c2');
  await harness.checkpoint(3, { c: [oneMore(3, 'third')] });
  await expect(harness.commit(3)).rejects.toThrow('its app profile third routes to the cluster c2');
});

test('a cluster that cannot be looked up writes nothing, and the work is sent again', async () => {
  const harness = committing();
  harness.store.fault = ({ method }) => (method === 'noteCluster' ? 'error-before' : undefined);
  await harness.checkpoint(1, { a: [oneMore(1)] });
  await expect(harness.commit(1)).rejects.toMatchObject({ reason: 'transient' });
  expect(harness.table.sum).toBe(0n);
  expect(harness.store.rests).toEqual([]);
  harness.store.fault = () => undefined;
  await harness.commit(1);
  expect(harness.table.sum).toBe(1n);
});

test('an emulator that knows no profiles is not held to a cluster', async () => {
  const harness = committing();
  harness.admin.profile = { kind: 'unchecked' };
  await harness.checkpoint(1, { a: [oneMore(1)] });
  await harness.commit(1);
  expect(harness.store.calls.map(({ method }) => method)).not.toContain('noteCluster');
});
