import type { RowEntry } from '../../../../shared/model/mutation.ts';
import type { InputRecord } from '../../../../shared/model/record.ts';
import { entryOf } from '../rows.ts';

interface BenchRecord {
  readonly key: string;
  /** The cell's value. */
  readonly value?: string;
  /** Instead of a value: how many bytes the value has. The record stays small, the entry does not. */
  readonly valueBytes?: number;
}

/** A serializer as a user writes one: JSON in, a row of one cell out. */
export default function serialize({ data }: InputRecord): RowEntry {
  const { key, value, valueBytes } = JSON.parse(data.toString('utf8')) as BenchRecord;
  return entryOf(key, value === undefined ? Buffer.alloc(valueBytes ?? 0, key) : Buffer.from(value));
}
