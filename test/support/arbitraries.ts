import fc from 'fast-check';
import type { AggregateValue, Mutation, RowEntry } from '../../shared/model/mutation.ts';

/** Generated values of the model, shared by the property tests. */
export const anyBytes = (maxLength = 40): fc.Arbitrary<Buffer> =>
  fc.uint8Array({ maxLength }).map((bytes) => Buffer.from(bytes));

export const anyFamily = fc.oneof(
  fc.constantFrom('f', 'cf', 'métrique', ''),
  fc.string({ maxLength: 12, unit: 'binary' }),
);

export const anyInt64 = fc.oneof(
  fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
  fc.constantFrom(-1n, 0n, 1n, 127n, 128n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 56n - 1n, 2n ** 56n, 2n ** 63n - 1n),
);

const anyTimestamp = fc.oneof(fc.constantFrom(-1n, 0n, 1_700_000_000_000_000n), fc.bigInt(0n, 2n ** 63n - 1n));

const anyAggregateValue: fc.Arbitrary<AggregateValue> = fc.oneof(
  fc.record({ kind: fc.constantFrom('raw' as const, 'bytes' as const), value: anyBytes() }),
  fc.record({ kind: fc.constant('int64' as const), value: anyInt64 }),
);

export const anySetCell: fc.Arbitrary<Mutation> = fc.record({
  kind: fc.constant('setCell' as const),
  family: anyFamily,
  qualifier: anyBytes(),
  timestampMicros: anyTimestamp,
  value: fc.oneof(
    anyBytes(),
    fc.constantFrom(127, 128, 16_383, 16_384, 20_000).map((size) => Buffer.alloc(size, 7)),
  ),
});

export const anyMutation: fc.Arbitrary<Mutation> = fc.oneof(
  { weight: 4, arbitrary: anySetCell },
  fc.record({
    kind: fc.constantFrom('addToCell' as const, 'mergeToCell' as const),
    family: anyFamily,
    qualifier: anyBytes(),
    timestampMicros: fc.bigInt(0n, 2n ** 53n),
    input: anyAggregateValue,
  }),
  fc.record(
    {
      kind: fc.constant('deleteFromColumn' as const),
      family: anyFamily,
      qualifier: anyBytes(),
      startTimestampMicros: fc.bigInt(1n, 2n ** 53n),
      endTimestampMicros: fc.bigInt(1n, 2n ** 53n),
    },
    { requiredKeys: ['kind', 'family', 'qualifier'] },
  ),
  fc.record({ kind: fc.constant('deleteFromFamily' as const), family: anyFamily }),
  fc.record({ kind: fc.constant('deleteFromRow' as const) }),
);

export const anyEntry: fc.Arbitrary<RowEntry> = fc.record({
  rowKey: anyBytes(200),
  mutations: fc.array(anyMutation, { minLength: 1, maxLength: 6 }),
});
