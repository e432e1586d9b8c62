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

test.each([
  ['', [cell(0n)], 'the row key must not be empty, got no byte'],
  ['k'.repeat(4097), [cell(0n)], 'the row key must be at most 4096 bytes, got 4097'],
  ['k', [cell(1000n), cell(1001n)], 'a timestamp must be a multiple of 1000 (whole milliseconds), got 1001'],
  ['k', [cell(-2n)], 'a timestamp must not be negative, got -2'],
  ['k', [addition(-1n)], 'a timestamp must not be negative, got -1'],
  ['k', [addition(1n)], 'a timestamp must be a multiple of 1000 (whole milliseconds), got 1'],
] as const)('no table takes the row key %j with its mutations', (rowKey, mutations, rule) => {
  expect(refusalOf(rowKey, ...mutations)).toBe(rule);
});

test('whatever a table may take is left to it', () => {
  const range: Mutation = {
    kind: 'deleteFromColumn',
    family: 'f',
    qualifier: Buffer.alloc(0),
    startTimestampMicros: 1n,
  };
  expect(
    refusalOf('k', cell(-1n), cell(0n), cell(5000n), addition(0n), { kind: 'deleteFromRow' }, range),
  ).toBeUndefined();
});
