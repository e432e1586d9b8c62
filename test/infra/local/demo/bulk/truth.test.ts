import { describe, expect, test } from 'vitest';
import { planMessages } from '../../../../../infra/local/demo/bulk/plan.ts';
import { expectedOutcome } from '../../../../../infra/local/demo/bulk/truth.ts';
import { codedForm } from '../../../../../infra/local/demo/flights/form.ts';
import { flight, flights } from '../flight.ts';

const { rowKeyOf } = codedForm;

describe('the expectation', () => {
  const small = [
    ...[flight(1), flight(2, { distance: 99 }), flight(5), flight(20)],
    ...[flight(101), flight(202), flight(303), flight(404)],
  ];

  test('counts what must become of each record, each copy for itself', () => {
    const plan = planMessages(small).map((message) => ({ ...message, copies: 2 as const }));
    const outcome = expectedOutcome(plan);
    expect(outcome).toMatchObject({
      messages: 6,
      records: 16,
      applied: 4,
      skipped: 2,
      held: 2,
      deadLettered: { 'empty-row-key': 2, 'long-row-key': 2, 'odd-timestamp': 2, 'not-json': 2 },
    });
    expect([...outcome.rows.keys()]).toEqual([rowKeyOf(flight(5)), rowKeyOf(flight(20)), rowKeyOf(flight(1))]);
    expect([...outcome.heldRows]).toEqual([rowKeyOf(flight(5))]);
  });

  test('knows the cells of a row to the byte', () => {
    const { rows } = expectedOutcome(planMessages([flight(1)]));
    expect([...rows.get('25#000001')!]).toEqual([
      ['flight:delay@978309000000000', 'fffffffffffffff4'],
      ['flight:distance@978309000000000', '00000000000001f4'],
      ['flight:summary@978309000000000', Buffer.from('500 miles, -12 minutes late').toString('hex')],
    ]);
  });

  test('accounts for every record that is published', () => {
    const outcome = expectedOutcome(planMessages(flights(12_345)));
    const { applied, skipped, held, deadLettered } = outcome;
    const dead = Object.values(deadLettered).reduce((sum, count) => sum + count, 0);
    expect(applied + skipped + held + dead).toBe(outcome.records);
  });
});
