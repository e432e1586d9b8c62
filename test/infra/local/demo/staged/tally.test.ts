import { expect, test } from 'vitest';
import type { StagedMessage } from '../../../../../infra/local/demo/staged/plan.ts';
import { tally } from '../../../../../infra/local/demo/staged/tally.ts';

const under = (id: string): StagedMessage => ({ flights: [], id, copies: 2, refused: { flights: 1 } });
const alone: StagedMessage = { flights: [], copies: 2, refused: { flights: 1 } };
const published = new Map([
  ['m1', under('a')],
  ['m2', under('a')],
  ['m3', alone],
  ['m4', alone],
]);

test('a refused record counts once for its id, or for its message where there is none, however often it was found', () => {
  const found = ['m1', 'm2', 'm1', 'm3', 'm4', 'm4'].map((messageId) => ({ messageId, recordIndex: 1 }));
  expect(tally(found, published, 'flights')).toEqual({ refused: 3, others: 0, copies: 6 });
});

test('a record that the table should have taken, and one of an unknown message, are others', () => {
  const found = [
    { messageId: 'm1', recordIndex: 0 },
    { messageId: 'unknown', recordIndex: 1 },
  ];
  expect(tally(found, published, 'flights')).toEqual({ refused: 0, others: 2, copies: 2 });
  expect(tally([{ messageId: 'm1', recordIndex: 1 }], published, 'airports')).toMatchObject({ refused: 0, others: 1 });
});
