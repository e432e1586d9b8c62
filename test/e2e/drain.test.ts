import { expect, test } from 'vitest';
import { expectedOutcome } from '../../infra/local/demo/bulk/truth.ts';
import { loadFlights } from '../../infra/local/demo/base/flights.ts';
import { messageData, planMessages, type PlannedMessage } from '../../infra/local/demo/bulk/plan.ts';
import { publish } from '../../infra/local/demo/bulk/publish.ts';
import { compareTable } from '../../infra/local/demo/base/read-back.ts';
import { openStage, type Stage } from '../../infra/local/demo/bulk/stage.ts';

const delayWrites = ({ cloud }: Stage, delayMillis: number): void => {
  cloud.bigtable!.faults.add({ method: 'MutateRows', times: Infinity, effect: { kind: 'delay', delayMillis } });
};
const writes = ({ cloud }: Stage): number => cloud.bigtable!.requestCounts().MutateRows ?? 0;

/** The default of maxConcurrentBatches. */
const REQUESTS_AT_ONCE = 4;

test('at SIGTERM every request in flight is written and answered before the process ends, and one that comes later is refused', async () => {
  const plan = planMessages(await loadFlights(1500)).filter(({ records }) => records[0]?.fate === 'good');
  const messages = plan.filter(({ records }) => records.length === 1).slice(0, 20);
  await using stage = await openStage({ timeScale: 1 });
  const { url } = stage.pipeline.function;
  // The first request pays for the start; what is tested here comes after it.
  expect(await push(url, messages[0]!)).toBe(204);
  delayWrites(stage, 1500);
  // One request after another is seen at Bigtable, as many as the sink has out at once: these are in flight for certain.
  const answers: Promise<number>[] = [];
  for (const message of messages.slice(0, REQUESTS_AT_ONCE)) {
    const before = writes(stage);
    answers.push(push(url, message));
    await expect.poll(() => writes(stage), { timeout: 5000, interval: 5 }).toBeGreaterThan(before);
  }
  for (const message of messages.slice(REQUESTS_AT_ONCE)) answers.push(push(url, message));
  const exit = await stage.pipeline.function.stop();

  const statuses = await Promise.all(answers);
  expect(statuses.slice(0, REQUESTS_AT_ONCE)).toEqual(new Array(REQUESTS_AT_ONCE).fill(204));
  // The others may reach the process before the signal or after it: written, or sent back to Pub/Sub and not written.
  expect(statuses.filter((status) => status !== 204 && status !== 503)).toEqual([]);
  expect(exit).toEqual({ code: 0, signal: null });
  const written = messages.filter((_, index) => index === 0 || statuses[index] === 204);
  expect(await compareTable(stage.table, expectedOutcome(written).rows)).toMatchObject({
    rowsRead: written.length,
    missingRows: 0,
    unexpectedRows: 0,
    differentCells: 0,
  });
}, 60_000);

test('SIGTERM under load, and a new instance in its place, loses nothing', async ({ signal }) => {
  const plan = planMessages(await loadFlights(1500)).filter(({ records }) => records[0]?.fate !== 'unknown-family');
  const expected = expectedOutcome(plan);
  await using stage = await openStage({ timeScale: 50, pushConcurrency: 8 });
  delayWrites(stage, 10);
  await publish(plan, new Map(), { topic: stage.topic, signal });
  await stage.untilBacklogIs(Math.round(expected.messages / 2), signal);
  expect(stage.counters().outstandingPushes).toBeGreaterThan(0);
  expect(await stage.pipeline.function.stop()).toEqual({ code: 0, signal: null });
  await stage.pipeline.function.restart();
  await stage.untilBacklogIs(0, signal);

  expect(await compareTable(stage.table, expected.rows)).toMatchObject({
    rowsRead: expected.rows.size,
    missingRows: 0,
    unexpectedRows: 0,
    differentCells: 0,
  });
}, 60_000);

let pushes = 0;

/** One push as Pub/Sub makes it; the status of its answer. */
async function push(url: string, message: PlannedMessage): Promise<number> {
  pushes += 1;
  const body = {
    message: {
      data: messageData(message).toString('base64'),
      messageId: String(pushes),
      publishTime: '2026-01-01T00:00:00Z',
    },
    subscription: 'projects/local/subscriptions/flights-flights',
  };
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  return response.status;
}
