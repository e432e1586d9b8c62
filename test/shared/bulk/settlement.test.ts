import { expect, test } from 'vitest';
import { createMetrics } from '../../../shared/base/metrics.ts';
import { Admission } from '../../../shared/bulk/admission.ts';
import type { Outcome } from '../../../shared/bulk/outcome.ts';
import { Settlement } from '../../../shared/bulk/settlement.ts';
import { numberedEntry } from '../../support/simulated-bigtable.ts';

test('an entry whose invocation ended in the turn in which it was admitted is told so, and frees what it held', async () => {
  const admission = new Admission({ maxInFlightEntries: 1, maxInFlightBytes: 100 });
  const settlement = new Settlement(admission, createMetrics(), () => undefined);
  const controller = new AbortController();
  await admission.admit(10, controller.signal);
  controller.abort(new Error('no time left'));
  const outcomes: Outcome[] = [];
  const entry = settlement.expect(numberedEntry('row', 1), 10, controller.signal, (outcome) => outcomes.push(outcome));
  expect(outcomes).toMatchObject([{ kind: 'redeliver', reason: 'deadline' }]);
  expect(entry.isAbandoned).toBe(true);
  expect([admission.entries, admission.bytes]).toEqual([0, 0]);
});
