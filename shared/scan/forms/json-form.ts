import { isAscii, isUtf8 } from 'node:buffer';
import type { Cell, Row } from '../../model/row.ts';
import type { BareForm } from './form.ts';

/**
 * A row, and a cell, in JSON (`row.schema.json`, `cell.schema.json`): made by hand, because it is what every row of a scan costs. Pure.
 * Bytes are `{"base64": …}`, or a text that stands for its UTF-8 where the option asks for texts and they are some.
 * Timestamps are texts: most readers of JSON lose digits of such a number.
 */

export type Bytes = 'base64' | 'utf8';

/** One record a row. */
export const rowForm = (text: Bytes): BareForm => {
  const bytes = bytesIn(text);
  const columns = new Columns(bytes);
  // Where bytes are base64 all of it is ASCII, which is written faster under that name.
  const encoding = text === 'base64' ? 'latin1' : 'utf8';
  return {
    name: 'row',
    version: 1,
    records: ({ key, cells }) => [
      Buffer.from(`{"rowKey":${bytes(key)},"cells":[${cellsOf(cells, columns)}]}`, encoding),
    ],
  };
};

/** One record a cell, which names its row. */
export const cellForm = (text: Bytes): BareForm => {
  const columns = new Columns(bytesIn(text));
  return { name: 'cell', version: 1, records: (row) => cellRecords(row, columns) };
};

function cellRecords({ key, cells }: Row, columns: Columns): Buffer[] {
  const start = `{"rowKey":${columns.bytes(key)},`;
  return cells.map((cell, place) => Buffer.from(`${start}${cellMembers(cell, place, columns)}}`));
}

function cellsOf(cells: readonly Cell[], columns: Columns): string {
  let all = '';
  for (let place = 0; place < cells.length; place += 1) {
    all += `${place === 0 ? '{' : ',{'}${cellMembers(cells[place] as Cell, place, columns)}}`;
  }
  return all;
}

function cellMembers(cell: Cell, place: number, columns: Columns): string {
  const { timestampMicros, value, labels } = cell;
  const marked = labels.length === 0 ? '' : `,"labels":${JSON.stringify(labels)}`;
  return `${columns.membersOf(cell, place)}"timestampMicros":"${timestampMicros}","value":${columns.bytes(value)}${marked}`;
}

/** Places of a row whose columns are remembered. */
const PLACES = 64;

/**
 * Families and qualifiers as members of JSON. Rows of a table mostly have the same columns at the same places, and their
 * reader gives the same bytes for the same column: then the text is there already.
 */
class Columns {
  readonly bytes: (bytes: Buffer) => string;
  readonly #known: { readonly family: string; readonly qualifier: Buffer; readonly members: string }[] = [];

  constructor(bytes: (bytes: Buffer) => string) {
    this.bytes = bytes;
  }

  membersOf({ family, qualifier }: Cell, place: number): string {
    const known = this.#known[place];
    if (known?.qualifier === qualifier && known.family === family) return known.members;
    // The name of a family needs no escape: it is made of letters, digits and -_. alone.
    const members = `"family":"${family}","qualifier":${this.bytes(qualifier)},`;
    if (place < PLACES) this.#known[place] = { family, qualifier, members };
    return members;
  }
}

const bytesIn = (text: Bytes): ((bytes: Buffer) => string) => (text === 'base64' ? base64Bytes : textBytes);

const base64Bytes = (bytes: Buffer): string => `{"base64":"${bytes.toString('base64')}"}`;

const textBytes = (bytes: Buffer): string => (isUtf8(bytes) ? quoted(bytes) : base64Bytes(bytes));

/** Nothing in it that JSON escapes, and nothing that a reader of lines would take for the end of one. */
const NEEDS_NO_ESCAPE = /^[ !#-[\]-~]*$/;

function quoted(bytes: Buffer): string {
  const text = isAscii(bytes) ? bytes.toString('latin1') : bytes.toString('utf8');
  return NEEDS_NO_ESCAPE.test(text) ? `"${text}"` : JSON.stringify(text);
}
