import { describe, expect, test } from 'vitest';
import { tableName } from '../../../../shared/model/table-name.ts';
import type { Envelope } from '../../../../shared/staged/envelope/envelope.ts';
import {
  type EnvelopeWriting,
  writeEnvelopes,
  writeOnReceipt,
} from '../../../../shared/staged/write/write-envelopes.ts';
import type { Unfinished, Outcome } from '../../../../shared/markers/outcome.ts';
import { addition, cell, envelopeOf, rowEntry } from '../../../support/envelopes.ts';
import { forEver, markedWrites } from '../../../support/marked-writes-harness.ts';
import { failPolicy, type FailurePolicy } from '../../../../shared/letters/policy.ts';
import { TargetCheck } from '../../../../shared/markers/target-check.ts';
import type { ReceivedEnvelope } from '../../../../shared/staged/envelope/create-envelope.ts';
import type { FakeTableOptions } from '../../../support/fake-marked-table.ts';
import { FakeTargetAdmin } from '../../../support/fake-target-admin.ts';
import { keepingPolicy } from '../../../support/committer-harness.ts';
import { recordOf } from '../../../support/pushed-message.ts';
import { testRuntime } from '../../../support/runtime.ts';

const ILL = tableName('p', 'i', 'ill');

const unfinished = (reason: Unfinished['reason']): Unfinished => ({ kind: 'unfinished', reason, message: reason });

/** Refuses the table `ill`; what is sent gets the result of its row key, `applied` where there is none. */
function writing(results: Readonly<Record<string, Outcome>> = {}) {
  const sent: string[][] = [];
  const forgotten: string[] = [];
  const keyOf = ({ rowKey }: Envelope): string => rowKey.toString();
  const given: EnvelopeWriting = {
    targets: {
      check: ({ table }) =>
        Promise.resolve(table.table === 'ill' ? { kind: 'target', refusal: unfinished('missing-table') } : undefined),
      forget: (target) => forgotten.push((target as Envelope).rowKey.toString()),
    },
    writes: {
      submit: (envelopes) => {
        sent.push(envelopes.map(keyOf));
        return Promise.resolve(envelopes.map((envelope) => results[keyOf(envelope)] ?? { kind: 'applied' }));
      },
    },
  };
  return { given, sent, forgotten };
}

const well = (number: number): Envelope => envelopeOf(number, rowEntry(String(number)));
const ill = (number: number): Envelope => envelopeOf(number, rowEntry(String(number)), { table: ILL });

test('envelopes of a target that is refused are not sent, and every result stands at its envelope’s place', async () => {
  const { given, sent } = writing({ 3: { kind: 'deduplicated' } });
  const results = await writeEnvelopes([ill(0), well(1), ill(2), well(3), well(4)], given, forEver());
  expect(sent).toEqual([['1', '3', '4']]);
  expect(results.map(({ kind }) => kind)).toEqual(['unfinished', 'applied', 'unfinished', 'deduplicated', 'applied']);
});

test('an envelope that names a missing family is not sent, and holds up none beside it', async () => {
  const { table, admin, targets, writes } = receiving();
  const envelopes = [
    counting(1, 'a'),
    envelopeOf(2, rowEntry('b', addition(1n), cell('v', 'nope'))),
    counting(3, 'b'),
    counting(4, 'c'),
  ];
  const results = await writeEnvelopes(envelopes, { writes, targets }, forEver());
  expect(results).toMatchObject([
    { kind: 'applied' },
    {
      kind: 'unfinished',
      reason: 'missing-family',
      message: expect.stringContaining('family nope of p.i.t') as string,
    },
    { kind: 'applied' },
    { kind: 'applied' },
  ]);
  expect(table.sum).toBe(3n);
  admin.families.set('nope', { type: 'raw', keptMillis: Infinity });
  expect(await writeEnvelopes(envelopes, { writes, targets }, forEver())).toMatchObject([
    { kind: 'deduplicated' },
    { kind: 'applied' },
    { kind: 'deduplicated' },
    { kind: 'deduplicated' },
  ]);
});

test('a target is looked at again after a failure that may come from what it is, and after no other', async () => {
  const { given, forgotten } = writing({ 1: unfinished('missing-family'), 2: unfinished('transient') });
  await writeEnvelopes([ill(0), well(1), well(2), well(3)], given, forEver());
  expect(forgotten).toEqual(['1']);
});

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
  const runtime = testRuntime({ clock, metrics });
  const targets = new TargetCheck({ declaredFamilies: {}, idleMillis: 1000 }, { admin, runtime });
  const write = (...envelopes: readonly ReceivedEnvelope[]): Promise<void> =>
    writeOnReceipt(envelopes, { writes, targets, onRejected, runtime }, forEver());
  return { ...harness, admin, targets, write };
}

describe('the envelopes of a message on receipt', () => {
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
    await expect(write(received(counting(1, 'ill')), received(counting(2)))).rejects.toMatchObject({
      reason: 'refused',
    });
    expect(table.sum).toBe(1n);
  });

  test('a record with a missing family keeps its message, and the records beside it are written', async () => {
    const { table, write } = receiving();
    const lost = envelopeOf(5, rowEntry('b', cell('v', 'nope')));
    await expect(write(received(counting(1)), received(lost), received(counting(2, 'c')))).rejects.toMatchObject({
      reason: 'missing-family',
    });
    expect(table.sum).toBe(2n);
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
});
