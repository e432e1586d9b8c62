import { expect, test } from 'vitest';
import { Admission } from '../../../../shared/bulk/waiting/admission.ts';
import type { Outcome } from '../../../../shared/bulk/outcome.ts';
import { Settlement } from '../../../../shared/bulk/waiting/settlement.ts';
import { testRuntime } from '../../../support/runtime.ts';
import { numberedEntry } from '../../../support/simulated-bigtable.ts';

test('an entry whose invocation ended in the turn in which it was admitted is told so, and frees what it held', async () => {
  const admission = new Admission({ maxInFlightEntries: 1, maxInFlightBytes: 100 });
  const settlement = new Settlement(admission, testRuntime(), () => undefined);
  const controller = new AbortController();
  await admission.admit(10, controller.signal);
  controller.abort(new Error('no time left'));
  const outcomes: Outcome[] = [];
  const entry = settlement.expect(numberedEntry('row', 1), 10, controller.signal, (outcome) => outcomes.push(outcome));
  expect(outcomes).toMatchObject([{ kind: 'redeliver', reason: 'deadline' }]);
  expect(entry.isAbandoned).toBe(true);
  expect([admission.entries, admission.bytes]).toEqual([0, 0]);
});
