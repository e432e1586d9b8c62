import { expect, test } from 'vitest';
import { completedMessage, tellsRunCompleted } from '../../../shared/scan/run-completed.ts';
import type { Run } from '../../../shared/scan/runs/run.ts';
import { NO_COUNTS } from '../../../shared/scan/runs/split.ts';

const run: Run = {
  id: '2026-01-31',
  state: 'done',
  startedAt: 0,
  endedAt: 90_000,
  dead: [],
  totals: { ...NO_COUNTS, rows: 7 },
  isTold: false,
};

test('the end of a run is told with its totals and times, and known by its attributes', () => {
  const { data, attributes } = completedMessage('exports', run);
  expect(JSON.parse(data.toString())).toEqual({
    ...{ kind: 'run-completed', version: 1, pipeline: 'exports', run: '2026-01-31' },
    ...{ startedAt: '1970-01-01T00:00:00.000Z', endedAt: '1970-01-01T00:01:30.000Z', totals: run.totals },
  });
  expect(attributes).toEqual({ kind: 'run-completed', run: '2026-01-31', pipeline: 'exports' });
  expect(tellsRunCompleted(attributes)).toBe(true);
});

test.each([
  ['without attributes', {}],
  ['of rows', { run: 'r', split: 's', form: 'entry', 'form-version': '1' }],
  ['of another kind', { kind: 'order', run: 'r', pipeline: 'p' }],
  ['whose kind alone is the same', { kind: 'run-completed' }],
])('a message %s tells no end of a run', (_, attributes) => {
  expect(tellsRunCompleted(attributes)).toBe(false);
});
