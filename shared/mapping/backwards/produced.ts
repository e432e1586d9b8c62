import type { FieldReference, ResolvedFamily, ResolvedMapping } from '../declared/resolved.ts';
import { fieldParts } from './row-key.ts';
import { lossyModifier } from './key-part.ts';

/** The fields that a record gets which is made of a row, and where each comes from. Pure. */

export type FieldSource =
  | { readonly kind: 'column'; readonly family: number; readonly column: number }
  | { readonly kind: 'dynamic'; readonly family: number }
  /** Of its template, the place among its fields; of a typed key, 0. */
  | { readonly kind: 'key'; readonly place: number }
  | { readonly kind: 'timestamp' };

export interface ProducedField {
  readonly field: FieldReference;
  readonly source: FieldSource;
  /** The option that names the field, from the mapping. */
  readonly option: readonly (string | number)[];
}

export const familiesOf = ({ write }: ResolvedMapping): readonly ResolvedFamily[] =>
  'families' in write ? write.families : [];

/** In the order of the record: the key, the columns, the timestamp. A field of the key that the key does not give is missing. */
export function producedFields(mapping: ResolvedMapping): readonly ProducedField[] {
  const columns = familiesOf(mapping).flatMap(columnsOf);
  const { write } = mapping;
  const timestamp = 'timestamp' in write && write.timestamp.from === 'field' ? [write.timestamp.field] : [];
  return [
    ...keyFields(mapping).flatMap(({ field, isGiven }, place) =>
      isGiven ? [{ field, source: { kind: 'key', place } as const, option: ['rowKey'] }] : [],
    ),
    ...columns,
    ...timestamp.map((field) => ({ field, source: { kind: 'timestamp' } as const, option: ['timestamp', 'field'] })),
  ];
}

function columnsOf({ family, columns, dynamic }: ResolvedFamily, at: number): ProducedField[] {
  return [
    ...columns.map(({ qualifier, field }, column) => ({
      field,
      source: { kind: 'column', family: at, column } as const,
      option: ['families', family, 'columns', qualifier],
    })),
    ...(dynamic
      ? [
          {
            field: dynamic.field,
            source: { kind: 'dynamic', family: at } as const,
            option: ['families', family, 'dynamic', 'field'],
          },
        ]
      : []),
  ];
}

/** Every field that the key is made of, and whether the key gives it back. */
export const keyFields = ({
  rowKey,
}: ResolvedMapping): readonly { field: FieldReference; isGiven: boolean; lossy?: string }[] =>
  rowKey.kind === 'typed'
    ? [{ field: rowKey.field, isGiven: true }]
    : fieldParts(rowKey.template).map((part) => {
        const lossy = lossyModifier(part)?.kind;
        return { field: part.field, isGiven: lossy === undefined, ...(lossy !== undefined && { lossy }) };
      });

export const pathOf = (field: FieldReference): readonly string[] | undefined =>
  field.from === 'payload' ? field.path : undefined;

export const isSamePath = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && isWithin(one, other);

/** Whether the first path is the second one, or leads on from it. */
export const isWithin = (inner: readonly string[], outer: readonly string[]): boolean =>
  outer.every((name, at) => inner[at] === name);
