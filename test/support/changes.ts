import fc from 'fast-check';
import type { Change, ChangeEntry, ChangeValue } from '../../shared/model/change.ts';

/** Changes as a stream tells them. */

export const setCellOf = (
  family: string,
  qualifier: string,
  value: string | Buffer,
  timestampMicros = 1000n,
): ChangeEntry => ({
  kind: 'set-cell',
  family,
  qualifier: Buffer.from(qualifier),
  timestampMicros,
  value: Buffer.from(value),
});

export const changeOf = (change: Partial<Change> = {}): Change => ({
  rowKey: Buffer.from('row'),
  type: 'USER',
  sourceCluster: 'c1',
  commitTime: 1_700_000_000_123_456_789n,
  tieBreaker: 0,
  token: 'token',
  lowWatermark: 1_700_000_000_000_000_001n,
  entries: [setCellOf('f', 'q', 'v')],
  bytes: 1,
  ...change,
});

const bytes = fc.uint8Array({ maxLength: 12 }).map((array) => Buffer.from(array));
const int64 = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n);
const nanos = fc.bigInt(0n, 2n ** 62n);
const family = fc.stringMatching(/^[-_.a-zA-Z0-9]{1,8}$/);
const micros = fc.bigInt(1n, 2n ** 62n);

const anyValue: fc.Arbitrary<ChangeValue> = fc.oneof(
  fc.record({ kind: fc.constant('raw-value' as const), value: bytes }),
  fc.record({ kind: fc.constant('raw-timestamp' as const), micros: int64 }),
  fc.record({ kind: fc.constant('int64' as const), value: int64 }),
);

const anyEntry: fc.Arbitrary<ChangeEntry> = fc.oneof(
  fc.record({
    kind: fc.constant('set-cell' as const),
    family,
    qualifier: bytes,
    timestampMicros: int64,
    value: bytes,
  }),
  fc.record({
    kind: fc.constant('delete-cells' as const),
    family,
    qualifier: bytes,
    timestampRange: fc.record({ startMicros: micros, endMicros: micros }, { requiredKeys: [] }),
  }),
  fc.record({ kind: fc.constant('delete-family' as const), family }),
  fc.record({
    kind: fc.constantFrom('add-to-cell' as const, 'merge-to-cell' as const),
    family,
    qualifier: anyValue,
    timestamp: anyValue,
    input: anyValue,
  }),
);

/** Every byte may stand in it, and every kind of entry. */
export const anyChange: fc.Arbitrary<Change> = fc.record({
  rowKey: fc.uint8Array({ minLength: 1, maxLength: 12 }).map((array) => Buffer.from(array)),
  type: fc.constantFrom('USER' as const, 'GARBAGE_COLLECTION' as const),
  sourceCluster: fc.stringMatching(/^[-a-z0-9]{0,8}$/),
  commitTime: nanos,
  tieBreaker: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  token: fc.string({ minLength: 1 }),
  lowWatermark: nanos,
  entries: fc.array(anyEntry, { maxLength: 5 }),
  bytes: fc.constant(1),
});
