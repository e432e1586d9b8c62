import { expect, test } from 'vitest';
import { sleep, systemClock } from '../../shared/base/clock.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { onSubscription } from '../../infra/local/servers/pubsub/faults.ts';
import { openCounters, type Counter, type Counters } from '../support/staged-counters.ts';

/** Another run of the same moments: `CRASH_SEED=<seed>`. What the processes do in them is up to the machine. */
const SEED = Number(process.env.CRASH_SEED ?? Date.now() % 2 ** 31);

/** Every kind of process is killed so often. */
const CRASHES_EACH = 2;
const MESSAGES_PER_WAVE = 120;
const GROUPS = 8;
/** The longest time that a process is let work on a wave before it is killed. */
const LONGEST_WAIT_MILLIS = 900;

/**
 * An acknowledged message is never redelivered, and any other is redelivered although it may have had its
 * effect. So an effect that is lost or doubled, in whichever process and between whichever two steps, is a wrong sum.
 */
test(`stager, committer and coordinator killed with SIGKILL again and again: every sum is the number of distinct messages (seed ${SEED})`, async ({
  signal,
}) => {
  const random = seededRandom(SEED);
  await using counters = await openCounters(10);
  const { processes, watch } = counters;
  disturb(counters);
  const expected = new Map<string, Counter>();

  const names = Object.keys(processes) as (keyof typeof processes)[];
  const victims = shuffled(
    names.flatMap((name) => new Array<keyof typeof processes>(CRASHES_EACH).fill(name)),
    random,
  );
  // One checkpoint before the first crash: all that follows may fall into one other.
  await publishWave(counters, expected, random);
  await watch.untilDrained(() => true, signal);
  for (const victim of victims) {
    await publishWave(counters, expected, random);
    await sleep(systemClock, random() * LONGEST_WAIT_MILLIS, signal);
    expect(await processes[victim].kill()).toEqual({ code: null, signal: 'SIGKILL' });
    await processes[victim].restart();
  }
  await publishWave(counters, expected, random);
  await watch.untilDrained(() => true, signal);

  expect(await counters.read()).toEqual(expected);
  expect(watch.openCheckpoints).toBe(0);
  expect(watch.checkpoints.length).toBeGreaterThan(1);
}, 120_000);

/** Messages come twice, answers of both stores are lost, and everything takes long enough to be interrupted. */
function disturb({ platform: { connector, servers } }: Counters): void {
  const { bigtable, firestore, pubsub } = servers;
  for (const { name: subscription, push } of connector.plan.subscriptions) {
    if (push)
      pubsub.faults.add({
        method: 'Acknowledgement',
        where: onSubscription(subscription),
        every: 5,
        times: Infinity,
        effect: { kind: 'lose' },
      });
  }
  bigtable.faults.add({
    method: 'CheckAndMutateRow',
    every: 11,
    times: Infinity,
    effect: { kind: 'lose-answer', status: { code: 'UNAVAILABLE', message: 'the answer was lost' } },
  });
  bigtable.faults.add({ method: 'CheckAndMutateRow', times: Infinity, effect: { kind: 'delay', delayMillis: 20 } });
  let commits = 0;
  firestore.faults.add({
    method: 'Commit',
    where: () => (commits += 1) % 13 === 0,
    times: Infinity,
    effect: { kind: 'lose-answer', status: { code: 'UNAVAILABLE', message: 'the answer was lost' } },
  });
  firestore.faults.add({ method: 'Commit', times: Infinity, effect: { kind: 'delay', delayMillis: 20 } });
}

let waves = 0;

/** One in ten is published twice under an id of its own, and counts once. */
async function publishWave(counters: Counters, expected: Map<string, Counter>, random: () => number): Promise<void> {
  waves += 1;
  const groups = Array.from({ length: MESSAGES_PER_WAVE }, () => `group-${Math.floor(random() * GROUPS)}`);
  for (const group of groups) {
    const { sum, markers } = expected.get(group) ?? { sum: 0n, markers: 0 };
    expected.set(group, { sum: sum + 1n, markers: markers + 1 });
  }
  const twice = groups.splice(0, MESSAGES_PER_WAVE / 10);
  await Promise.all([
    counters.publish(groups),
    ...twice.flatMap((group, index) => {
      const id = `wave ${waves} message ${index}`;
      return [counters.publish([group], { id }), counters.publish([group], { id })];
    }),
  ]);
}

/** Fisher and Yates. */
function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  const rest = [...items];
  return items.flatMap(() => rest.splice(Math.floor(random() * rest.length), 1));
}
