import { expect, test } from 'vitest';
import { DeadLetterReader } from '../../infra/local/demo/bulk/dead-letters.ts';
import { expectedOutcome } from '../../infra/local/demo/bulk/truth.ts';
import { BROKEN_FATES } from '../../infra/local/demo/bulk/fates.ts';
import { loadFlights } from '../../infra/local/demo/base/flights.ts';
import { planMessages } from '../../infra/local/demo/bulk/plan.ts';
import { publish, type Published } from '../../infra/local/demo/bulk/publish.ts';
import { compareTable } from '../../infra/local/demo/base/read-back.ts';
import { openStage } from '../../infra/local/demo/bulk/stage.ts';

const CRASHES = 3;

/**
 * A message that was acknowledged is never redelivered. So if the function lost one of its records with its memory, the
 * table, or the dead letters, would lack it in the end.
 */
test('SIGKILL in the middle of a run, three times, loses no record that was acknowledged', async ({ signal }) => {
  const plan = planMessages(await loadFlights(2000));
  const expected = expectedOutcome(plan);
  await using stage = await openStage({ timeScale: 50, pushConcurrency: 8 });
  const { counters, pipeline } = stage;
  const deadLetters = new DeadLetterReader(stage.pubsub, pipeline.deadLetters!.name);
  const published: Published = new Map();
  // Slow enough that every crash finds requests in flight: some applied and not answered, some not applied.
  stage.cloud.bigtable!.faults.add({
    method: 'MutateRows',
    times: Infinity,
    effect: { kind: 'delay', delayMillis: 10 },
  });
  await stage.addReviewFamily();
  await publish(plan, published, { topic: stage.topic, signal });

  for (let crash = 1; crash <= CRASHES; crash += 1) {
    await stage.untilBacklogIs(Math.round(expected.messages * (1 - crash / (CRASHES + 1))), signal);
    expect(counters().outstandingPushes).toBeGreaterThan(0);
    expect(counters().backlog).toBeGreaterThan(0);
    expect(await pipeline.function.kill()).toEqual({ code: null, signal: 'SIGKILL' });
    await pipeline.function.restart();
  }
  await stage.untilBacklogIs(0, signal);
  await deadLetters.until(sum(Object.values(expected.deadLettered)), signal);
  await deadLetters.stop();

  expect(counters().nacked).toBeGreaterThan(0);
  expect(await compareTable(stage.table, expected.rows)).toMatchObject({
    rowsRead: expected.rows.size,
    missingRows: 0,
    unexpectedRows: 0,
    differentCells: 0,
  });
  // A dead letter is published again when the crash came before the acknowledgement; none is missing.
  const letters = deadLetters.letters(published).map(({ fate }) => fate);
  for (const fate of BROKEN_FATES) {
    expect(letters.filter((given) => given === fate).length).toBeGreaterThanOrEqual(expected.deadLettered[fate]);
  }
}, 120_000);

const sum = (numbers: readonly number[]): number => numbers.reduce((total, value) => total + value, 0);
