import { expect, test } from 'vitest';
import { createLogger } from '../../../../shared/base/logging.ts';
import { failPolicy, type FailurePolicy } from '../../../../shared/letters/policy.ts';
import type { Envelope } from '../../../../shared/staged/envelope/envelope.ts';
import { TargetCheck } from '../../../../shared/markers/target-check.ts';
import { type ReceivedEnvelope, writeOnReceipt } from '../../../../shared/staged/write/write-on-receipt.ts';
import type { FakeTableOptions } from '../../../support/fake-marked-table.ts';
import { FakeTargetAdmin } from '../../../support/fake-target-admin.ts';
import { keepingPolicy } from '../../../support/committer-harness.ts';
import { addition, cell, envelopeOf, rowEntry } from '../../../support/envelopes.ts';
import { forEver, markedWrites } from '../../../support/marked-writes-harness.ts';
import { recordOf } from '../../../support/pushed-message.ts';

const counting = (number: number, row = 'k') => envelopeOf(number, rowEntry(row, addition(1n)));
const bad = envelopeOf(9, rowEntry('k', cell('bad')));

const received = (envelope: Envelope, isReplayed = false): ReceivedEnvelope => ({
  envelope,
  record: recordOf({ messageId: 'm', attributes: { origin: 'till-7' }, data: Buffer.from('as published') }),
  isReplayed,
});

function receiving(table: Omit<FakeTableOptions, 'clock'> = {}, onRejected: FailurePolicy = failPolicy()) {
  const harness = markedWrites(table);
  const admin = new FakeTargetAdmin();
  const { clock, metrics, writes } = harness;
  const logger = createLogger({}, () => undefined);
  const targets = new TargetCheck({ declaredFamilies: {}, idleMillis: 1000 }, { admin, clock, logger });
  const write = (...envelopes: readonly ReceivedEnvelope[]): Promise<void> =>
    writeOnReceipt(envelopes, { writes, targets, onRejected, clock, metrics }, forEver());
  return { ...harness, admin, write };
}

test('the envelopes of a message are written, and written once however often it is delivered', async () => {
  const { table, write, metrics } = receiving();
  await write(received(counting(1)), received(counting(2, 'other')));
  await write(received(counting(1)), received(counting(2, 'other')));
  expect(table.sum).toBe(2n);
  const { counters, distributions } = metrics.snapshot();
  expect(counters).toMatchObject({ recordsApplied: 2, requestsDeduplicated: 2 });
  expect(distributions.publishToAppliedLatency?.count).toBe(2);
});

test('a message is not acknowledged while one of its envelopes is unfinished', async () => {
  const { table, write } = receiving({
    mishap: ({ rowKey }) => (rowKey.toString() === 'ill' ? { when: 'before', code: 'PERMISSION_DENIED' } : undefined),
  });
  await expect(write(received(counting(1, 'ill')), received(counting(2)))).rejects.toMatchObject({ reason: 'refused' });
  expect(table.sum).toBe(1n);
});

test('nothing is written to a target that is not sound', async () => {
  const { table, admin, write } = receiving();
  admin.families.delete('markers');
  await expect(write(received(counting(1)))).rejects.toThrow(/marker family markers of p\.i\.t does not exist/);
  expect(table.requests).toEqual([]);
});

test('what is refused goes to the failure policy as it was published, after everything else', async () => {
  const policy = keepingPolicy();
  const { write, metrics } = receiving({}, policy);
  await write(received(bad), received(counting(1)));
  expect(policy.handled).toMatchObject([
    {
      reason: 'rejected',
      record: { data: Buffer.from('as published'), message: { attributes: { origin: 'till-7' } } },
    },
  ]);
  expect(metrics.snapshot().counters).toMatchObject({ numRecordsSendErrors: 1, recordsApplied: 1 });
});

test('what is refused under the policy fail keeps its message', async () => {
  const { write } = receiving();
  await expect(write(received(bad))).rejects.toMatchObject({ reason: 'failure-policy' });
});

test('what waited in a dead letter is no latency', async () => {
  const { write, metrics } = receiving();
  await write(received(counting(1), true));
  expect(metrics.snapshot().distributions.publishToAppliedLatency).toBeUndefined();
});
