import { expect, test } from 'vitest';
import type { CommitRequest } from '../../shared/proto/google/firestore/v1/firestore.ts';
import { countedMessage, openCounters } from '../support/staged-counters.ts';

/** What the stager has out at once without waiting for company. */
const COMMITS_AT_ONCE = 4;
const PUSHES = 12;
/** A drain may take 9 s of the function's time: more than {@link DELAY_MILLIS} of ours. */
const SLOWER = 2;
const DELAY_MILLIS = 1500;

/** New segments are created; every other commit changes what is there. */
const isStaging = ({ writes }: CommitRequest): boolean =>
  writes.some(
    ({ operation, currentDocument }) =>
      operation?.$case === 'update' &&
      operation.value.name.includes('/segments/') &&
      currentDocument?.conditionType?.$case === 'exists',
  );

test('at SIGTERM a staged sink stores and acknowledges the messages under way; what it refuses is not stored', async ({
  signal,
}) => {
  await using counters = await openCounters(SLOWER);
  const { platform, processes, watch } = counters;
  const { url } = processes.stager;
  // The first request pays for the start of the client; what is tested here comes after it.
  expect(await push(url, 0)).toBe(204);
  const delayed = platform.servers.firestore.faults.add({
    method: 'Commit',
    where: isStaging,
    times: Infinity,
    effect: { kind: 'delay', delayMillis: DELAY_MILLIS },
  });
  // One after another is seen at Firestore: these are under way for certain.
  const answers: Promise<number>[] = [];
  for (let number = 1; number <= COMMITS_AT_ONCE; number += 1) {
    answers.push(push(url, number));
    await expect.poll(() => delayed.hits, { timeout: 5000, interval: 5 }).toBe(number);
  }
  for (let number = COMMITS_AT_ONCE + 1; number < PUSHES; number += 1) answers.push(push(url, number));
  const exit = await processes.stager.stop();

  const statuses = await Promise.all(answers);
  expect(statuses.slice(0, COMMITS_AT_ONCE)).toEqual(new Array(COMMITS_AT_ONCE).fill(204));
  // The others may reach the process before the signal or after it.
  expect(statuses.filter((status) => status !== 204 && status !== 503)).toEqual([]);
  expect(exit).toEqual({ code: 0, signal: null });
  await watch.untilDrained(() => true, signal);
  const stored = 1 + statuses.filter((status) => status === 204).length;
  expect(await counters.read()).toEqual(new Map([['drained', { sum: BigInt(stored), markers: stored }]]));
}, 60_000);

test('SIGTERM of a staged sink, its committer and its coordinator under load, and new instances in their places, change no sum', async ({
  signal,
}) => {
  await using counters = await openCounters(10);
  const { processes, watch } = counters;
  const groups = Array.from({ length: 400 }, (_, index) => `group-${index % 4}`);
  const published = counters.publish(groups);
  for (const running of Object.values(processes)) {
    expect(await running.stop()).toEqual({ code: 0, signal: null });
    await running.restart();
  }
  await published;
  await watch.untilDrained(() => true, signal);

  const counter = { sum: 100n, markers: 100 };
  expect(await counters.read()).toEqual(new Map([0, 1, 2, 3].map((index) => [`group-${index}`, counter])));
}, 60_000);

/** One push as Pub/Sub makes it; the status of its answer. */
async function push(url: string, number: number): Promise<number> {
  const body = {
    message: {
      data: countedMessage('drained').toString('base64'),
      messageId: String(number),
      publishTime: '2026-01-01T00:00:00Z',
    },
    subscription: 'projects/local/subscriptions/counted-counters',
  };
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  return response.status;
}
