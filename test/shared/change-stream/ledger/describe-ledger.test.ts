import { expect, test } from 'vitest';
import { describeLedger } from '../../../../shared/change-stream/ledger/describe-ledger.ts';
import { ledgerOf, merge } from '../../../support/ledgers.ts';
import { held, partition, range, token } from '../../../support/partitions.ts';

test('a ledger is told by its ranges in order, and what it has none of is told as none', () => {
  const partitions = [
    partition('b', held('b', 'c')),
    partition('a', held('', 'b'), { kind: 'resting', notBefore: 1 }),
    partition('d', held('c', 'd'), { kind: 'done', keptUntil: 1 }),
  ];
  expect(describeLedger(ledgerOf({ partitions, merges: [merge(range('c', 'z'), [token('c', 'd')])] }))).toEqual({
    ...{ waiting: '(*, b) [b, c)', held: 'none', completed: 'none', parked: '[c, d)' },
  });
});

test('a ledger of many partitions names twenty of each kind', () => {
  const keys = Array.from({ length: 31 }, (_, index) => String(index).padStart(2, '0'));
  const partitions = keys.slice(1).map((key, index) => partition(key, held(keys[index] ?? '', key)));
  expect(describeLedger(ledgerOf({ partitions })).waiting).toMatch(/\[19, 20\) and 10 more$/);
});
