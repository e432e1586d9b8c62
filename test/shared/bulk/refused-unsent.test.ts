import { expect, test } from 'vitest';
import { refusedUnsent } from '../../../shared/bulk/refused-unsent.ts';
import type { Mutation } from '../../../shared/model/mutation.ts';

const cell = (timestampMicros: bigint): Mutation => ({
  kind: 'setCell',
  family: 'f',
  qualifier: Buffer.alloc(0),
  timestampMicros,
  value: Buffer.alloc(0),
});

const addition = (timestampMicros: bigint): Mutation => ({
  kind: 'addToCell',
  family: 'f',
  qualifier: Buffer.alloc(0),
  timestampMicros,
  input: { kind: 'int64', value: 1n },
});

const refusalOf = (rowKey: string, ...mutations: Mutation[]): string | undefined =>
  refusedUnsent({ rowKey: Buffer.from(rowKey), mutations })?.message.replace(
    'not sent, because no table takes it: ',
    '',
  );

const removal = (startTimestampMicros: bigint): Mutation => ({
  kind: 'deleteFromColumn',
  family: 'f',
  qualifier: Buffer.alloc(0),
  startTimestampMicros,
});

test.each<[string, Mutation[], string]>([
  ['', [cell(0n)], 'the row key must not be empty, got no byte'],
  ['k'.repeat(4097), [cell(0n)], 'the row key must be at most 4096 bytes, got 4097'],
  ['k', [cell(1000n), cell(1001n)], 'mutations[1] (setCell): timestamp must be whole milliseconds (a multiple of 1000), got 1001'],
  ['k', [cell(-2n)], 'mutations[0] (setCell): timestamp must be from -1 to 2^63 − 1 microseconds, got -2'],
  ['k', [addition(-1n)], 'mutations[0] (addToCell): timestamp must be from 0 to 2^63 − 1 microseconds, got -1'],
  ['k', [addition(1n)], 'mutations[0] (addToCell): timestamp must be whole milliseconds (a multiple of 1000), got 1'],
  ['k', [removal(1n)], 'mutations[0] (deleteFromColumn): start timestamp must be whole milliseconds (a multiple of 1000), got 1'],
  ['k', [cell(0n), { kind: 'deleteFromFamily', family: 'f:q' }], 'mutations[1] (deleteFromFamily): family must be letters, digits, "_", "-" and ".", got another text'],
  ['k', [{ ...removal(0n), qualifier: Buffer.alloc(16_385) } as Mutation], 'mutations[0] (deleteFromColumn): qualifier must be at most 16384 bytes, got 16385'],
])('no table takes the row key %j with its mutations', (rowKey, mutations, rule) => {
  expect(refusalOf(rowKey, ...mutations)).toBe(rule);
}); // prettier-ignore

test('whatever a table may take is left to it', () => {
  const mutations = [cell(-1n), cell(0n), cell(5000n), addition(0n), removal(1000n)];
  expect(refusalOf('k', ...mutations, { kind: 'deleteFromRow' })).toBeUndefined();
});
