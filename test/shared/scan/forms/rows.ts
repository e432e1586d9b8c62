import fc from 'fast-check';
import type { Cell, Row } from '../../../../shared/model/row.ts';

/** Rows as a read gives them. */

export const cell = (
  family: string,
  qualifier: string | Buffer,
  timestampMicros: bigint,
  value: string | Buffer,
): Cell => ({
  family,
  qualifier: Buffer.from(qualifier),
  timestampMicros,
  value: Buffer.from(value),
  labels: [],
});

export const rowOf = (key: string | Buffer, ...cells: readonly Cell[]): Row => ({
  key: Buffer.from(key),
  cells,
  bytes: 1,
});

const bytes = fc.uint8Array({ maxLength: 12 }).map((array) => Buffer.from(array));
/** Every byte may stand in it; its timestamps are whole milliseconds. */
export const anyRow: fc.Arbitrary<Row> = fc.record({
  key: fc.uint8Array({ minLength: 1, maxLength: 12 }).map((array) => Buffer.from(array)),
  cells: fc.array(
    fc.record({
      family: fc.stringMatching(/^[-_.a-zA-Z0-9]{1,8}$/),
      qualifier: bytes,
      timestampMicros: fc.bigInt(0n, 2n ** 62n).map((micros) => micros - (micros % 1000n)),
      value: bytes,
      labels: fc.constant([]),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  bytes: fc.constant(1),
});

/** The text of a record that is bytes, as those of small rows are. */
export function textOf(record: unknown): string {
  if (Buffer.isBuffer(record)) return record.toString();
  throw new TypeError('the record is no buffer');
}
