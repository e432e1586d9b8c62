import { expect, test } from 'vitest';
import { tableName } from '../../../../shared/model/table-name.ts';
import type { Envelope } from '../../../../shared/staged/envelope/envelope.ts';
import { type EnvelopeWriting, writeEnvelopes } from '../../../../shared/staged/write/write-envelopes.ts';
import type { Unfinished, Outcome } from '../../../../shared/markers/outcome.ts';
import { envelopeOf, rowEntry } from '../../../support/envelopes.ts';
import { forEver } from '../../../support/marked-writes-harness.ts';

const ILL = tableName('p', 'i', 'ill');

const unfinished = (reason: Unfinished['reason']): Unfinished => ({ kind: 'unfinished', reason, message: reason });

/** Refuses the table `ill`; what is sent gets the result of its row key, `applied` where there is none. */
function writing(results: Readonly<Record<string, Outcome>> = {}) {
  const sent: string[][] = [];
  const forgotten: string[] = [];
  const keyOf = ({ rowKey }: Envelope): string => rowKey.toString();
  const given: EnvelopeWriting = {
    targets: {
      check: ({ table }) => Promise.resolve(table.table === 'ill' ? unfinished('missing-table') : undefined),
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

test('a target is looked at again after a failure that may come from what it is, and after no other', async () => {
  const { given, forgotten } = writing({ 1: unfinished('missing-family'), 2: unfinished('transient') });
  await writeEnvelopes([ill(0), well(1), well(2), well(3)], given, forEver());
  expect(forgotten).toEqual(['1']);
});
