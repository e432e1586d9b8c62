import { isUtf8 } from 'node:buffer';
import { RecordError } from '../../base/errors.ts';
import { printableBytes } from '../../model/bytes.ts';
import type { Cell, Row } from '../../model/row.ts';
import { jsonScalar } from '../codecs/json.ts';
import type { ResolvedMapping } from '../declared/resolved.ts';
import { parseJson } from '../formats/json-text.ts';
import type { FieldValue } from '../values/field-value.ts';
import { type CellText, instantText, nullableCellText, type TrailingBytes } from './cell-text.ts';
import { compileLayout, type NullableObject, type Place } from './layout.ts';
import { familiesOf, isSamePath, keyFields, pathOf, type ProducedField, producedFields } from './produced.ts';
import { compileKeyReader } from './row-key.ts';

/** One row as the JSON record of which the mapping writes it. Throws a `RecordError` that names the column or the row key. */
export type ReadRow = (row: Row) => string;

/**
 * Compiles a mapping to be read backwards, which `backwardsProblems` has let pass. The newest cell of a column counts,
 * which is the first one seen; columns and families that the mapping does not declare are ignored; a column without a
 * cell is null, and so is the object of a family without one.
 */
export function compileReadRow(mapping: ResolvedMapping, trailing: TrailingBytes): ReadRow {
  const fields = slotsOf(mapping);
  const readCells = compileCells(mapping, fields, trailing);
  const key = compileKeyReader(mapping.rowKey, trailing);
  const keySlots = keyFields(mapping).map(({ field }) => slotOf(fields, pathOf(field) ?? []));
  const timestamp = compileTimestamp(mapping, fields);
  const write = compileLayout(
    fields.map(({ path }, slot): Place => ({ path, slot })),
    nullableObjects(mapping, fields),
  );
  return ({ key: rowKey, cells }) => {
    const slots = new Array<string | undefined>(fields.length);
    const newest = readCells(cells, slots);
    const given = key.fields(rowKey);
    const own = given.map((value, place) => {
      const slot = keySlots[place] ?? -1;
      const text = slots[slot];
      // What a column holds has its type; what the key alone holds is a text.
      if (text !== undefined && text !== 'null') return parseJson(text);
      if (value === undefined) return undefined;
      slots[slot] = jsonScalar.check(value, 'row key');
      return value;
    });
    key.check(rowKey, samePlaces(own, keySlots));
    timestamp?.(slots, newest);
    return write(slots);
  };
}

/** A field of the record and everything that it is made from. */
interface Slot {
  readonly path: readonly string[];
  readonly sources: readonly ProducedField['source'][];
}

function slotsOf(mapping: ResolvedMapping): readonly Slot[] {
  const slots: { path: readonly string[]; sources: ProducedField['source'][] }[] = [];
  for (const { field, source } of producedFields(mapping)) {
    const path = pathOf(field);
    if (!path) continue;
    const known = slots.find((slot) => isSamePath(slot.path, path));
    if (known) known.sources.push(source);
    else slots.push({ path, sources: [source] });
  }
  return slots;
}

const slotOf = (slots: readonly Slot[], path: readonly string[]): number =>
  slots.findIndex((slot) => isSamePath(slot.path, path));

/** A field that stands in the key twice is read where the key gives it back. */
const samePlaces = (
  own: readonly (FieldValue | undefined)[],
  keySlots: readonly number[],
): readonly (FieldValue | undefined)[] =>
  own.map((value, place) => value ?? own.find((other, at) => other !== undefined && keySlots[at] === keySlots[place]));

interface Column {
  readonly slot: number;
  readonly path: string;
  readonly text: CellText;
}

type ReadCells = (cells: readonly Cell[], slots: (string | undefined)[]) => bigint;

/** Fills the slots of columns, and gives the newest timestamp of the cells that did; −1 where there was none. */
function compileCells(mapping: ResolvedMapping, fields: readonly Slot[], trailing: TrailingBytes): ReadCells {
  const families = new Map(
    familiesOf(mapping).map(({ family, columns, dynamic }) => {
      const byQualifier = new Map(
        columns.map(({ qualifier, field, format, onNull }): [string, Column] => [
          Buffer.from(qualifier).toString('latin1'),
          {
            slot: slotOf(fields, pathOf(field) ?? []),
            path: `${family}:${qualifier}`,
            text: nullableCellText(format, onNull, trailing),
          },
        ]),
      );
      const open = dynamic && {
        slot: slotOf(fields, pathOf(dynamic.field) ?? []),
        text: nullableCellText(dynamic.format, dynamic.onNull, trailing),
      };
      return [family, { byQualifier, open }];
    }),
  );
  return (cells, slots) => {
    let newest = -1n;
    let seen: Set<string> | undefined;
    for (const { family, qualifier, timestampMicros, value } of cells) {
      const declared = families.get(family);
      if (!declared) continue;
      const name = qualifier.toString('latin1');
      const column = declared.byQualifier.get(name);
      if (column) {
        if (slots[column.slot] !== undefined) continue;
        slots[column.slot] = column.text(value, column.path);
      } else if (declared.open) {
        const { slot, text } = declared.open;
        seen ??= new Set();
        if (seen.has(`${family}:${name}`)) continue;
        seen.add(`${family}:${name}`);
        const member = `${memberName(family, qualifier)}:${text(value, `${family}:${printableBytes(qualifier)}`)}`;
        slots[slot] = slots[slot] === undefined ? member : `${slots[slot]},${member}`;
      } else continue;
      if (timestampMicros > newest) newest = timestampMicros;
    }
    for (const { open } of families.values()) {
      if (open && slots[open.slot] !== undefined) slots[open.slot] = `{${slots[open.slot] ?? ''}}`;
    }
    return newest;
  };
}

/** The name of a member is the text of a qualifier, which bytes of another kind do not have. */
function memberName(family: string, qualifier: Buffer): string {
  if (isUtf8(qualifier)) return JSON.stringify(qualifier.toString());
  throw new RecordError(
    `${family}:${printableBytes(qualifier)}: must have a qualifier in UTF-8, which names a member, got ${qualifier.length} other bytes`,
  );
}

/** The one timestamp of a record: of its newest cell, unless a column holds it. */
function compileTimestamp(
  { write }: ResolvedMapping,
  fields: readonly Slot[],
): ((slots: (string | undefined)[], newest: bigint) => void) | undefined {
  if (!('timestamp' in write) || write.timestamp.from !== 'field') return undefined;
  const { field, unit } = write.timestamp;
  const slot = slotOf(fields, pathOf(field) ?? []);
  if (slot === -1) return undefined;
  return (slots, newest) => {
    if (newest >= 0n && slots[slot] === undefined) slots[slot] = instantText(unit, newest * 1000n, field.label);
  };
}

/** The objects that families are within, each with the slots of all families within it. */
function nullableObjects(mapping: ResolvedMapping, fields: readonly Slot[]): NullableObject[] {
  const families = familiesOf(mapping);
  return families.flatMap(({ within }) => {
    const path = within && pathOf(within);
    if (!path) return [];
    const isInside = (family: number): boolean => isSamePath(pathOf(families[family]?.within ?? within) ?? [], path);
    const slots = fields.flatMap(({ sources }, slot) =>
      sources.some((source) => 'family' in source && families[source.family]?.within && isInside(source.family))
        ? [slot]
        : [],
    );
    return [{ path, slots }];
  });
}
