import { describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../shared/base/clock.ts';
import { ClientPool } from '../../shared/google/bigtable/clients.ts';
import { createReadMarkers } from '../../shared/google/bigtable/read-markers.ts';
import { createRowCalls } from '../../shared/google/bigtable/row-calls.ts';
import { MarkedWrites } from '../../shared/staged/write/marked-writes.ts';
import type { CommitWork } from '../../shared/staged/work-message.ts';
import { addFamily, INSTANCE, routeTo } from '../support/bigtable-raw-client.ts';
import { addition, envelopeOf, rowEntry } from '../support/envelopes.ts';
import { ManualClock } from '../support/manual-clock.ts';
import type { TestMessage } from '../support/push-body.ts';
import { submitOne, WRITES_OPTIONS } from '../support/marked-writes-harness.ts';
import { testRuntime } from '../support/runtime.ts';
import { type Revision, type StagedHarness, startStaged } from '../support/staged-harness.ts';

/** Records are JSON, and each adds one to the sum of its row. */
const COUNTING = {
  serializer: undefined,
  mapping: {
    writeMode: 'aggregate',
    rowKey: '${k}',
    timestamp: { field: 'day', unit: 'micros' },
    families: { sums: { aggregate: 'int64-sum', columns: { n: 'int64' } } },
  },
};

async function start(pipeline: Readonly<Record<string, unknown>> = {}): Promise<StagedHarness> {
  const profiles = { second: { singleCluster: true, transactional: true } };
  const staged = await startStaged({ pipeline: { ...COUNTING, ...pipeline }, bigtable: { profiles } });
  await addFamily(staged.client, `${INSTANCE}/tables/t`, 'markers2');
  return staged;
}

const message = (id = 'm-1'): TestMessage => ({
  data: JSON.stringify({ k: 'k', day: 1_000_000, n: 1 }),
  messageId: id,
  attributes: { id: `x-${id}` },
  publishTime: new Date().toISOString(),
});

async function sumOf(staged: StagedHarness, profile?: string, key = 'k'): Promise<bigint> {
  const row = (await staged.rows(profile)).find((each) => each.key === key);
  const sums = (row?.cells ?? []).filter((cell) => cell.startsWith('sums:'));
  const values = sums.map((cell) => Buffer.from(cell.slice(cell.indexOf('=') + 1), 'latin1').readBigInt64BE());
  return values.reduce((sum, value) => sum + value, 0n);
}

/** The work of the next checkpoint, which is due a second after the last; there must be some. */
async function nextWork(revision: Revision): Promise<readonly CommitWork[]> {
  return vi.waitFor(
    async () => {
      const works = await revision.tick();
      expect(works.length).toBeGreaterThan(0);
      return works;
    },
    { timeout: 5000, interval: 100 },
  );
}

/** A checkpoint, and everything that it owns in its row. */
async function drain(revision: Revision): Promise<void> {
  for (const work of await nextWork(revision)) expect(await revision.commit(work)).toMatchObject({ status: 204 });
}

const HARMLESS = [
  ['nothing', {}, {}],
  ['the framing, where no attribute names messages', {}, { framing: 'ndjson' }],
  ['the app profile, for one of the same cluster', {}, { appProfileId: 'second' }],
  ['the horizon of markers', {}, { markerHorizon: '8d' }],
  [
    'the subscription, where an attribute names messages',
    { idAttribute: 'id' },
    { idAttribute: 'id', subscription: 'projects/p/subscriptions/other' },
  ],
  ['the interval of checkpoints and the caps', {}, { checkpointInterval: '20s', maxStagedEntries: 5000 }],
] as const;

const DOUBLING = [
  ['the marker family', {}, { markerFamily: 'markers2' }, 'markerFamily from "markers" to "markers2"'],
  ['the attribute that names messages', {}, { idAttribute: 'id' }, 'idAttribute from nothing to "id"'],
  [
    'the framing, where an attribute names messages',
    { idAttribute: 'id' },
    { idAttribute: 'id', framing: 'ndjson' },
    'framing from "single" to "ndjson"',
  ],
  [
    'the subscription, where no attribute names messages',
    {},
    { subscription: 'projects/p/subscriptions/other' },
    'subscription from ',
  ],
] as const;

describe('between two deliveries of a message, on a checkpoint,', () => {
  test.each(HARMLESS)('%s may change: it counts once', async (_what, before, after) => {
    await using staged = await start(before);
    expect(await staged.push(message())).toMatchObject({ status: 204 });
    await drain(staged);
    const changed = await staged.revision(after);
    expect(await changed.push(message())).toEqual({ status: 204, text: '' });
    await drain(changed);
    expect(await sumOf(staged)).toBe(1n);
  });

  test.each(DOUBLING)(
    '%s may not: the message is refused, and so is every tick',
    async (_what, before, after, change) => {
      await using staged = await start(before);
      expect(await staged.push(message())).toMatchObject({ status: 204 });
      await drain(staged);
      const changed = await staged.revision(after);
      const answer = await changed.push(message());
      expect(answer).toMatchObject({ status: 503 });
      expect(answer.text).toContain(change);
      expect(staged.count('messagesRedelivered', 'changed')).toBe(1);
      await expect(changed.tick()).rejects.toThrow(change);
      // What was before works on.
      expect(await staged.push(message('m-2'))).toMatchObject({ status: 204 });
      await drain(staged);
      expect(await sumOf(staged)).toBe(2n);
    },
  );

  test('a change that is confirmed with the code of the refusal holds from the next tick on, and the revision before is refused', async () => {
    await using staged = await start();
    await staged.push(message());
    await drain(staged);
    const refused = await (await staged.revision({ markerFamily: 'markers2' })).push(message('m-2'));
    const code = /set confirmChange: ([0-9a-f]{12})/.exec(refused.text)?.[1];
    const confirmed = await staged.revision({ markerFamily: 'markers2', confirmChange: code });
    expect(await confirmed.push(message('m-2'))).toMatchObject({ status: 503 });
    await confirmed.tick();
    const restarted = await staged.revision({ markerFamily: 'markers2', confirmChange: code });
    expect(await restarted.push(message('m-2'))).toMatchObject({ status: 204 });
    await drain(restarted);
    expect(await sumOf(staged)).toBe(2n);
    const before = await staged.revision({});
    expect(await before.push(message('m-3'))).toMatchObject({ status: 503 });
  });
});

describe('between two deliveries of a message, on receipt,', () => {
  const sumAfter = async (before: object, after: object): Promise<bigint> => {
    await using staged = await start({ ...before, commit: 'on-receipt' });
    expect(await staged.push(message())).toMatchObject({ status: 204 });
    const changed = await staged.revision({ ...after, commit: 'on-receipt' });
    expect(await changed.push(message())).toMatchObject({ status: 204 });
    return await sumOf(staged);
  };

  test.each(HARMLESS.filter(([, , after]) => !('checkpointInterval' in after)))(
    '%s may change: it counts once',
    async (_what, before, after) => {
      expect(await sumAfter(before, after)).toBe(1n);
    },
  );

  test.each(DOUBLING)(
    '%s must not change, and no document is there to refuse it: it counts twice',
    async (_what, before, after) => {
      expect(await sumAfter(before, after)).toBe(2n);
    },
  );
});

describe('a profile that is failed over before the other cluster has what the first applied', () => {
  const DELAY = 5000;
  const PROFILES = {
    one: { singleCluster: true, transactional: true, cluster: 'c1' },
    'only-c2': { singleCluster: true, transactional: true, cluster: 'c2' },
  };

  async function startInC1(clock: ManualClock): Promise<StagedHarness> {
    const staged = await startStaged({
      pipeline: { ...COUNTING, appProfileId: 'one' },
      bigtable: { clock, clusters: ['c1', 'c2'], replicationDelayMillis: DELAY, profiles: PROFILES },
    });
    expect(await staged.push(message())).toMatchObject({ status: 204 });
    await drain(staged);
    expect(await sumOf(staged, 'one')).toBe(1n);
    return staged;
  }

  test('has an effect twice where nobody looks where it routes', async () => {
    const clock = new ManualClock();
    await using staged = await startInC1(clock);
    const runtime = testRuntime({ clock: systemClock });
    const access = { emulatorEndpoint: staged.bigtable.address };
    const pool = new ClientPool({ ...access, maxActiveInstances: 1, destinationIdleTimeoutMillis: 60_000 }, runtime);
    const writes = new MarkedWrites(WRITES_OPTIONS, {
      send: createRowCalls(pool),
      readMarkers: createReadMarkers(pool),
      runtime,
    });
    const effect = envelopeOf(7, rowEntry('lone', addition(1n)), { appProfileId: 'one' });
    const signal = AbortSignal.timeout(10_000);
    // Applied, and its answer lost: whoever asked for it asks again.
    expect(await submitOne(writes, effect, signal)).toEqual({ kind: 'applied' });
    await routeTo(staged.client, 'one', 'c2');
    expect(await submitOne(writes, effect, signal)).toEqual({ kind: 'applied' });
    pool.close();
    await clock.advance(DELAY);
    expect(await sumOf(staged, 'one', 'lone')).toBe(2n);
    expect(await sumOf(staged, 'only-c2', 'lone')).toBe(2n);
  });

  test('takes nothing that is delivered again, until it is routed back', async () => {
    const clock = new ManualClock();
    await using staged = await startInC1(clock);
    await routeTo(staged.client, 'one', 'c2');
    const after = await staged.revision({});
    expect(await after.push(message())).toMatchObject({ status: 204 });
    const works = await nextWork(after);
    for (const work of works) {
      const answer = await after.commit(work);
      expect(answer).toMatchObject({ status: 503 });
      expect(answer.text).toMatch(
        /routes to the cluster c2, and the markers of this pipeline are in c1.*confirmChange/,
      );
    }
    expect(staged.count('messagesRedelivered', 'changed')).toBe(works.length);
    await routeTo(staged.client, 'one', 'c1');
    for (const work of works) expect(await after.commit(work)).toMatchObject({ status: 204 });
    await clock.advance(DELAY);
    expect(await sumOf(staged, 'one')).toBe(1n);
    expect(await sumOf(staged, 'only-c2')).toBe(1n);
  });

  test('writes in the other cluster once that is confirmed, and counts once where that has everything', async () => {
    const clock = new ManualClock();
    await using staged = await startInC1(clock);
    await clock.advance(DELAY);
    await routeTo(staged.client, 'one', 'c2');
    const refused = await staged.revision({});
    for (const id of ['m-1', 'm-2']) expect(await refused.push(message(id))).toMatchObject({ status: 204 });
    const works = await nextWork(refused);
    const answers = await Promise.all(works.map((work) => refused.commit(work)));
    const code = /set confirmChange: ([0-9a-f]{12})/.exec(answers[0]?.text ?? '')?.[1];
    const confirmed = await staged.revision({ confirmChange: code });
    for (const work of works) expect(await confirmed.commit(work)).toMatchObject({ status: 204 });
    await clock.advance(DELAY);
    expect(await sumOf(staged, 'one')).toBe(2n);
  });
});
