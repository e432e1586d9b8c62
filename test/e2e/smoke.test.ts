import { expect, test } from 'vitest';
import { DEMO_PIPELINE_NAMES, DEMO_PIPELINES } from '../../infra/local/demo/bulk/pipelines.ts';
import { DeadLetterReader } from '../../infra/local/demo/bulk/dead-letters.ts';
import { expectedOutcome } from '../../infra/local/demo/bulk/truth.ts';
import { loadFlights } from '../../infra/local/demo/base/flights.ts';
import { planMessages } from '../../infra/local/demo/bulk/plan.ts';
import { publish, type Published } from '../../infra/local/demo/bulk/publish.ts';
import { compareTable } from '../../infra/local/demo/base/read-back.ts';
import { openStage } from '../../infra/local/demo/bulk/stage.ts';

const LIMIT_MILLIS = 60_000;

test.each(DEMO_PIPELINE_NAMES)(
  '%s: records published to the topic are rows, skipped, or dead letters, and those without their family wait for it',
  async (pipeline) => {
    const signal = AbortSignal.timeout(LIMIT_MILLIS);
    const { form } = DEMO_PIPELINES[pipeline];
    const plan = planMessages(await loadFlights(500), form);
    const expected = expectedOutcome(plan, form);
    await using stage = await openStage({ pipeline, timeScale: 50 });
    const deadLetters = new DeadLetterReader(stage.pubsub, stage.pipeline.deadLetters!.name);
    const published: Published = new Map();

    await publish(plan, published, { topic: stage.topic, signal });
    await stage.untilBacklogIs(expected.held, signal);
    await deadLetters.until(4, signal);
    expect((await compareTable(stage.table, expected.rows)).missingRows).toBe(expected.held);
    await stage.addReviewFamily();
    await stage.untilBacklogIs(0, signal);
    await stage.pipeline.function.stop();
    await deadLetters.stop();

    expect(await compareTable(stage.table, expected.rows)).toEqual({
      rowsExpected: expected.rows.size,
      rowsRead: expected.rows.size,
      cellsCompared: sum([...expected.rows.values()].map((cells) => cells.size)),
      missingRows: 0,
      unexpectedRows: 0,
      differentCells: 0,
    });
    expect(deadLetters.letters(published).map(({ fate }) => fate)).toEqual(
      expect.arrayContaining(['empty-row-key', 'long-row-key', 'not-json', 'odd-timestamp']),
    );
    expect(deadLetters.count).toBe(4);
    expect(stage.metrics.total('recordsApplied')).toBe(expected.applied + expected.held);
    expect(stage.metrics.total('recordsSkipped')).toBe(expected.skipped);
  },
  LIMIT_MILLIS,
);

const sum = (numbers: readonly number[]): number => numbers.reduce((total, value) => total + value, 0);
