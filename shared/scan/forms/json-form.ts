import { isAscii, isUtf8 } from 'node:buffer';
import type { LargeData } from '../../model/publishing.ts';
import { type Cell, LARGE_ROW_BYTES, type Row } from '../../model/row.ts';
import type { BareForm, Form } from './form.ts';

/**
 * A row, and a cell, in JSON (`row.schema.json`, `cell.schema.json`): made by hand, because it is what every row of a scan costs. Pure.
 * Bytes are `{"base64": …}`, or a text that stands for its UTF-8 where the option asks for texts and they are some.
 * Timestamps are texts: most readers of JSON lose digits of such a number.
 */

export type Bytes = 'base64' | 'utf8';

/** One record a row. That of a large row is made in pieces: as a whole it would be held beside the row. */
export const rowForm = (text: Bytes): RowForm => {
  const columns = new Columns(text);
  const { bytes } = columns;
  // Where bytes are base64 all of it is ASCII, which is written faster under that name.
  const encoding = text === 'base64' ? 'latin1' : 'utf8';
  return {
    name: 'row',
    version: 1,
    records: (row) => [
      row.bytes > LARGE_ROW_BYTES
        ? { pieces: () => rowPieces(row, columns) }
        : Buffer.from(`{"rowKey":${bytes(row.key)},"cells":[${cellsOf(row.cells, columns)}]}`, encoding),
    ],
  };
};

interface RowForm extends Form {
  readonly records: (row: Row) => readonly (Buffer | LargeData)[];
}

/** One record a cell, which names its row. */
export const cellForm = (text: Bytes): BareForm => {
  const columns = new Columns(text);
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
  return `${membersBeforeValue(cell, place, columns)}${columns.bytes(cell.value)}${membersBehindValue(cell)}`;
}

const membersBeforeValue = (cell: Cell, place: number, columns: Columns): string =>
  `${columns.membersOf(cell, place)}"timestampMicros":"${cell.timestampMicros}","value":`;

const membersBehindValue = ({ labels }: Cell): string =>
  labels.length === 0 ? '' : `,"labels":${JSON.stringify(labels)}`;

/** The JSON of a row, cell by cell, and of large values bit by bit: a text of a whole value would be held beside it. */
function* rowPieces({ key, cells }: Row, columns: Columns): Generator<Buffer> {
  yield Buffer.from(`{"rowKey":${columns.bytes(key)},"cells":[`);
  for (const [place, cell] of cells.entries()) {
    const start = place === 0 ? '{' : ',{';
    if (cell.value.length <= PIECE_BYTES) {
      yield Buffer.from(`${start}${cellMembers(cell, place, columns)}}`);
      continue;
    }
    yield Buffer.from(`${start}${membersBeforeValue(cell, place, columns)}`);
    yield* columns.isText && isUtf8(cell.value) ? textPieces(cell.value) : base64Pieces(cell.value);
    yield Buffer.from(`${membersBehindValue(cell)}}`);
  }
  yield Buffer.from(']}');
}

/** A multiple of three: base64 of pieces is that of the whole. */
const PIECE_BYTES = 48 * 1024;

function* base64Pieces(value: Buffer): Generator<Buffer> {
  yield Buffer.from('{"base64":"');
  for (let at = 0; at < value.length; at += PIECE_BYTES) {
    yield Buffer.from(value.toString('base64', at, at + PIECE_BYTES), 'latin1');
  }
  yield Buffer.from('"}');
}

function* textPieces(value: Buffer): Generator<Buffer> {
  yield Buffer.from('"');
  for (let at = 0; at < value.length;) {
    let end = Math.min(at + PIECE_BYTES, value.length);
    // Not inside a character.
    while (((value[end] ?? 0) & 0xc0) === 0x80) end -= 1;
    yield Buffer.from(JSON.stringify(value.toString('utf8', at, end)).slice(1, -1));
    at = end;
  }
  yield Buffer.from('"');
}

/** Places of a row whose columns are remembered. */
const PLACES = 64;

/**
 * Families and qualifiers as members of JSON. Rows of a table mostly have the same columns at the same places, and their
 * reader gives the same bytes for the same column: then the text is there already.
 */
class Columns {
  readonly bytes: (bytes: Buffer) => string;
  readonly isText: boolean;
  readonly #known: { readonly family: string; readonly qualifier: Buffer; readonly members: string }[] = [];

  constructor(text: Bytes) {
    this.bytes = bytesIn(text);
    this.isText = text === 'utf8';
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
