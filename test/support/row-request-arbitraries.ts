import fc from 'fast-check';
import type { ReadModifyWriteRule } from '../../shared/model/conditional.ts';
import type { RowFilter } from '../../shared/model/filter/filter.ts';
import type { Mutation } from '../../shared/model/mutation.ts';
import type { RowRequest, RowRequestDocument } from '../../shared/model/row-request.ts';
import type { ResultCell, RowResult, RowResultOutcome } from '../../shared/model/row-result.ts';
import { anyBytes, anyInt64, anyMutation } from './arbitraries.ts';

/** Generated row requests and results that break no rule of the model. */

const someFamily = fc.constantFrom('f', 'cf-1', '_m', 'a.b');

/** The same change of a family that a table can have, at whole milliseconds, over a range that is not empty. */
export const someMutation = fc.tuple(anyMutation, someFamily).map(([mutation, family]): Mutation => {
  if (mutation.kind === 'deleteFromRow') return mutation;
  if (mutation.kind === 'deleteFromFamily') return { ...mutation, family };
  if (mutation.kind !== 'deleteFromColumn') {
    return { ...mutation, family, timestampMicros: wholeMillis(mutation.timestampMicros) };
  }
  const { startTimestampMicros, endTimestampMicros, ...column } = mutation;
  const start = startTimestampMicros && wholeMillis(startTimestampMicros) + 1000n;
  const end = endTimestampMicros && wholeMillis(endTimestampMicros) + 1000n;
  return {
    ...column,
    family,
    ...(start !== undefined && { startTimestampMicros: start }),
    ...(end !== undefined && { endTimestampMicros: start === undefined || end > start ? end : start + 1000n }),
  };
});

/** −1 asks for the service's clock. */
const wholeMillis = (micros: bigint): bigint => (micros === -1n ? micros : micros - (micros % 1000n));

const someCount = fc.integer({ min: 1, max: 2 ** 31 - 1 });

export const someFilter: fc.Arbitrary<RowFilter> = fc.letrec<{ filter: RowFilter }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.record({ kind: fc.constant('none' as const) }),
    fc.record({ kind: fc.constant('family' as const), family: someFamily }),
    fc.record({ kind: fc.constant('qualifier' as const), qualifier: anyBytes() }),
    fc.record({ kind: fc.constant('value' as const), value: anyBytes() }),
    fc.record({ kind: fc.constantFrom('cellsPerColumn' as const, 'cellsPerRow' as const), count: someCount }),
    fc.record({
      kind: fc.constant('timestampRange' as const),
      startMicros: fc.bigInt(0n, 2n ** 63n - 1n).map(wholeMillis),
    }),
    fc.tuple(fc.bigInt(0n, 2n ** 62n), fc.bigInt(1n, 2n ** 62n)).map(([startMicros, length]) => ({
      kind: 'timestampRange' as const,
      startMicros: wholeMillis(startMicros),
      endMicros: wholeMillis(startMicros) + wholeMillis(length) + 1000n,
    })),
    fc.record({
      kind: fc.constantFrom('chain' as const, 'interleave' as const),
      filters: fc.array(tie('filter'), { minLength: 1, maxLength: 3 }),
    }),
  ),
})).filter;

const someRule: fc.Arbitrary<ReadModifyWriteRule> = fc.oneof(
  fc.record({ kind: fc.constant('increment' as const), family: someFamily, qualifier: anyBytes(), amount: anyInt64 }),
  fc.record({
    kind: fc.constant('append' as const),
    family: someFamily,
    qualifier: anyBytes(),
    value: anyBytes().filter(({ length }) => length > 0),
  }),
);

const someRowKey = anyBytes(200).filter(({ length }) => length > 0);

export const someRowRequest: fc.Arbitrary<RowRequest> = fc.oneof(
  fc
    .record(
      {
        rowKey: someRowKey,
        predicate: someFilter,
        then: fc.array(someMutation, { maxLength: 4 }),
        otherwise: fc.array(someMutation, { maxLength: 4 }),
      },
      { requiredKeys: ['rowKey', 'then', 'otherwise'] },
    )
    .filter(({ then, otherwise }) => then.length + otherwise.length > 0)
    .map((request): RowRequest => ({ kind: 'conditional', request })),
  fc
    .record({ rowKey: someRowKey, rules: fc.array(someRule, { minLength: 1, maxLength: 4 }) })
    .map((request): RowRequest => ({ kind: 'readModifyWrite', request })),
);

const someCorrelationId = fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme-ascii' });

export const someDocument: fc.Arbitrary<RowRequestDocument> = fc.record(
  {
    request: someRowRequest,
    table: fc.constantFrom('orders', 'p.i.orders', 'example.com:p.i.a.b'),
    correlationId: someCorrelationId,
  },
  { requiredKeys: ['request'] },
);

const someCell: fc.Arbitrary<ResultCell> = fc
  .record({
    family: someFamily,
    qualifier: anyBytes(),
    timestampMicros: anyInt64,
    value: anyBytes(),
    labels: fc.array(fc.string({ minLength: 1, maxLength: 5 }), { maxLength: 2 }),
    counter: fc.option(anyInt64),
  })
  .map(({ counter, ...cell }) => {
    if (counter === null) return cell;
    const value = Buffer.alloc(8);
    value.writeBigInt64BE(counter);
    return { ...cell, value, isCounter: true as const };
  });

const someOutcome: fc.Arbitrary<RowResultOutcome> = fc.oneof(
  fc.tuple(fc.boolean(), fc.boolean()).map(([predicateMatched, selectedBranchHasMutations]) => ({
    kind: 'conditional' as const,
    predicateMatched,
    selectedBranch: predicateMatched ? ('then' as const) : ('otherwise' as const),
    selectedBranchHasMutations,
  })),
  fc.record(
    {
      kind: fc.constant('readModifyWrite' as const),
      cells: fc.array(someCell, { maxLength: 5 }),
      cellsOmitted: fc.integer({ min: 1, max: 100_000 }),
    },
    { requiredKeys: ['kind', 'cells'] },
  ),
);

export const someResult: fc.Arbitrary<RowResult> = fc.record(
  {
    correlationId: someCorrelationId,
    table: fc.constantFrom(
      { project: 'p', instance: 'i', table: 't.u' },
      { project: 'a:p', instance: 'i', table: 't' },
    ),
    rowKey: someRowKey,
    outcome: someOutcome,
    replayed: fc.constant(true as const),
    mayBeReplayed: fc.constant(true as const),
  },
  { requiredKeys: ['correlationId', 'table', 'rowKey', 'outcome'] },
);
