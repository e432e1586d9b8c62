import type { FieldReference, ResolvedColumn, ResolvedDynamicColumns, ResolvedFamily } from '../declared/resolved.ts';
import type { NullMode } from '../declared/write-modes.ts';
import { type CellCodec, cellCodec } from '../codecs/cell-codec.ts';
import { compileField, compileObstacle, type DecodedRecord, type Settle } from '../values/fields.ts';
import { type FieldValue, isFieldObject, refuseValue } from '../values/field-value.ts';

/** What a record asks of one cell: bytes to write, its deletion, or nothing. */
export type CellChange = Buffer | 'delete' | 'ignore';

export interface Column {
  readonly family: string;
  readonly qualifier: Buffer;
  /** The path of its field, for messages. */
  readonly label: string;
  readonly change: (record: DecodedRecord) => CellChange;
}

export interface DynamicCell {
  readonly qualifier: Buffer;
  readonly change: CellChange;
}

export interface DynamicColumns {
  readonly update: 'merge' | 'replace';
  /** Undefined = the object is null and the family is left alone. */
  readonly cells: (record: DecodedRecord) => readonly DynamicCell[] | undefined;
}

export interface Family {
  readonly family: string;
  readonly columns: readonly Column[];
  readonly dynamic?: DynamicColumns;
  /** Whether the record has the object that holds this family's fields. */
  readonly isPresent: (record: DecodedRecord) => boolean;
}

/** Compiles the families of a mapping. The closures throw a `RecordError` that names the field. */
export const compileFamilies = (families: readonly ResolvedFamily[], settle: Settle): readonly Family[] =>
  families.map((family) => compileFamily(family, settle));

function compileFamily({ family, columns, dynamic, within }: ResolvedFamily, settle: Settle): Family {
  const holder = within && compileField(within, settle);
  return {
    family,
    columns: columns.map((column) => compileColumn(family, column, settle)),
    ...(dynamic && { dynamic: compileDynamic(dynamic, settle) }),
    isPresent: (record) => !holder || holder(record) !== null,
  };
}

function compileColumn(family: string, column: ResolvedColumn, settle: Settle): Column {
  const { label } = column.field;
  const read = requireThere(column.field, column.onMissing, settle);
  const change = compileChange(cellCodec(column.format), column.onNull);
  return {
    family,
    label,
    qualifier: Buffer.from(column.qualifier, 'utf8'),
    change: (record) => change(read(record), label),
  };
}

function compileDynamic(dynamic: ResolvedDynamicColumns, settle: Settle): DynamicColumns {
  const { label } = dynamic.field;
  const read = requireThere(dynamic.field, dynamic.onMissing, settle);
  const change = compileChange(cellCodec(dynamic.format), dynamic.onNull);
  return {
    update: dynamic.update,
    cells: (record) => {
      const value = read(record);
      if (value === null) return undefined;
      if (!isFieldObject(value)) return refuseValue(label, 'must be an object', value);
      return Object.entries(value).map(([name, member]) => {
        // The name is data, so the message names the object alone.
        if (!name.isWellFormed()) return refuseValue(label, 'must have names of well-formed Unicode', name);
        return { qualifier: Buffer.from(name, 'utf8'), change: change(member, `${label}.*`) };
      });
    },
  };
}

function requireThere(
  field: FieldReference,
  onMissing: 'reject' | 'null',
  settle: Settle,
): (record: DecodedRecord) => FieldValue {
  const { label } = field;
  const read = compileField(field, settle);
  if (onMissing === 'null') {
    const obstacleOf = compileObstacle(field, settle);
    return (record) => {
      const value = read(record);
      if (value !== undefined) return value;
      // A value where an object belongs is another record than one that lacks the field.
      const obstacle = obstacleOf(record);
      return obstacle === undefined ? null : refuseValue(label, 'must be a member of an object', obstacle);
    };
  }
  return (record) => {
    const value = read(record);
    return value === undefined ? refuseValue(label, 'must be there', value) : value;
  };
}

function compileChange(codec: CellCodec, onNull: NullMode): (value: FieldValue, label: string) => CellChange {
  return (value, label) => (value === null ? changeOfNull(codec, onNull, label) : codec.encode(value, label));
}

function changeOfNull(codec: CellCodec, onNull: NullMode, label: string): CellChange {
  switch (onNull) {
    case 'encode':
      return codec.nullBytes;
    case 'ignore':
    case 'delete':
      return onNull;
    case 'reject':
      return refuseValue(label, 'must not be null', null);
  }
}
