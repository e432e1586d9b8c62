import type { RowEntry } from '../../../shared/model/mutation.ts';
import type { TableName } from '../../../shared/model/table-name.ts';

/** The table of every bulk case. */
export const TABLE: TableName = { project: 'bench', instance: 'bench', table: 'rows' };
export const FAMILY = 'f';
export const QUALIFIER = 'q';

/** A fixed time: what the clock costs is not what is measured. */
export const TIMESTAMP_MICROS = 1_700_000_000_000_000;

const CELL_TIMESTAMP_MICROS = BigInt(TIMESTAMP_MICROS);
const QUALIFIER_BYTES = Buffer.from(QUALIFIER);

/** 16 bytes, another one for every number. */
export const keyOf = (row: number): string => `row#${String(row).padStart(12, '0')}`;

/** One cell of the value, as a serializer would make it. */
export const entryOf = (key: string, value: Buffer): RowEntry => ({
  rowKey: Buffer.from(key),
  mutations: [
    { kind: 'setCell', family: FAMILY, qualifier: QUALIFIER_BYTES, timestampMicros: CELL_TIMESTAMP_MICROS, value },
  ],
});
