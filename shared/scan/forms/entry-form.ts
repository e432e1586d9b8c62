import { encodeEntry } from '../../mapping/rows/entry-wire.ts';
import { MAX_MUTATIONS, type Mutation, type RowEntry } from '../../model/mutation.ts';
import type { Cell } from '../../model/row.ts';
import type { BareForm } from './form.ts';

/**
 * The entry that writes a row as it was read: what `serializer: entry` of the sinks reads, so that a copy of a table needs
 * no code. Protobuf bytes in a message of its own; proto JSON as a line of a packed one. Pure.
 */

/** Family → its type in our words: `raw`, `int64-sum`. One that is missing here is raw. */
export type FamilyTypes = ReadonlyMap<string, string>;

/** Aggregates whose cells read as the integer that an AddToCell of it leaves in an empty cell. */
const ADDABLE = new Set(['int64-sum', 'int64-min', 'int64-max']);

const INT64_BYTES = 8;

export function entryForm(aggregates: 'refuse' | 'add-to-cell', isPacked: boolean, families: FamilyTypes): BareForm {
  const mutationOf = (cell: Cell): Mutation => {
    const type = families.get(cell.family) ?? 'raw';
    return type === 'raw' ? setCell(cell) : addToCell(cell, type, aggregates);
  };
  return {
    name: 'entry',
    version: 1,
    records: ({ key, cells }) => {
      if (cells.length > MAX_MUTATIONS) {
        throw new Error(
          `a row of ${cells.length.toLocaleString('en-US')} cells makes no entry, which holds at most ${MAX_MUTATIONS.toLocaleString('en-US')} mutations: read fewer versions or families`,
        );
      }
      const entry = { rowKey: key, mutations: cells.map(mutationOf) };
      return [isPacked ? lineOf(entry) : encodeEntry(entry)];
    },
  };
}

const setCell = ({ family, qualifier, timestampMicros, value }: Cell): Mutation => ({
  kind: 'setCell',
  family,
  qualifier,
  timestampMicros,
  value,
});

function addToCell(cell: Cell, type: string, aggregates: 'refuse' | 'add-to-cell'): Mutation {
  const { family, qualifier, timestampMicros, value } = cell;
  if (aggregates === 'refuse') {
    throw new Error(
      `the family ${family} holds ${type}, and a cell of it makes no SetCell: leave it out with excludeFamilies, or set aggregates to add-to-cell, which adds to what the destination holds`,
    );
  }
  if (!ADDABLE.has(type) || value.length !== INT64_BYTES) {
    throw new Error(
      `the family ${family} holds ${type}, and a cell of it cannot be added to another one: leave it out with excludeFamilies`,
    );
  }
  return {
    kind: 'addToCell',
    family,
    qualifier,
    timestampMicros,
    input: { kind: 'int64', value: value.readBigInt64BE() },
  };
}

/** Proto JSON in one line: base64 and digits leave no line end in it, and the name of a family needs no escape. */
function lineOf({ rowKey, mutations }: RowEntry): Buffer {
  const written = mutations.map((mutation) => {
    if (mutation.kind === 'setCell') {
      const { family, qualifier, timestampMicros, value } = mutation;
      return `{"setCell":{"familyName":"${family}","columnQualifier":"${base64(qualifier)}","timestampMicros":"${timestampMicros}","value":"${base64(value)}"}}`;
    }
    if (mutation.kind !== 'addToCell' || mutation.input.kind !== 'int64') {
      throw new TypeError(`a row makes no ${mutation.kind}`);
    }
    const { family, qualifier, timestampMicros, input } = mutation;
    return `{"addToCell":{"familyName":"${family}","columnQualifier":{"rawValue":"${base64(qualifier)}"},"timestamp":{"rawTimestampMicros":"${timestampMicros}"},"input":{"intValue":"${input.value}"}}}`;
  });
  return Buffer.from(`{"rowKey":"${base64(rowKey)}","mutations":[${written.join(',')}]}`);
}

const base64 = (bytes: Buffer): string => bytes.toString('base64');
