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
  return {
    name: 'row',
    version: 1,
    records: ({ key, cells }) => [Buffer.from(`{"rowKey":${bytes(key)},"cells":[${cellsOf(cells, bytes)}]}`)],
  };
};

/** One record a cell, which names its row. */
export const cellForm = (text: Bytes): BareForm => {
  const bytes = bytesIn(text);
  return { name: 'cell', version: 1, records: (row) => cellRecords(row, bytes) };
};

function cellRecords({ key, cells }: Row, bytes: (bytes: Buffer) => string): Buffer[] {
  const start = `{"rowKey":${bytes(key)},`;
  return cells.map((cell) => Buffer.from(`${start}${cellMembers(cell, bytes)}}`));
}

function cellsOf(cells: readonly Cell[], bytes: (bytes: Buffer) => string): string {
  let all = '';
  for (const cell of cells) all += `${all === '' ? '{' : ',{'}${cellMembers(cell, bytes)}}`;
  return all;
}

function cellMembers({ family, qualifier, timestampMicros, value, labels }: Cell, bytes: (bytes: Buffer) => string) {
  const marked = labels.length === 0 ? '' : `,"labels":${JSON.stringify(labels)}`;
  // The name of a family needs no escape: it is made of letters, digits and -_. alone.
  return `"family":"${family}","qualifier":${bytes(qualifier)},"timestampMicros":"${timestampMicros}","value":${bytes(value)}${marked}`;
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
