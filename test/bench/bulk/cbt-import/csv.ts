import { createReadStream, createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import { keyOf, QUALIFIER } from '../rows.ts';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_';

/** Writes the rows that both sides import: a header with the qualifier, then key and value. Nothing needs quotes. */
export async function writeCsv(path: string, rows: number, valueBytes: number): Promise<void> {
  const pool = Array.from({ length: 2 * valueBytes }, (_, at) => ALPHABET[(at * 7919) % ALPHABET.length]).join('');
  const file = createWriteStream(path);
  file.write(`,${QUALIFIER}\n`);
  for (let row = 0; row < rows; row += 1) {
    const at = row % valueBytes;
    if (!file.write(`${keyOf(row)},${pool.slice(at, at + valueBytes)}\n`)) await once(file, 'drain');
  }
  file.end();
  await finished(file);
}

export interface CsvRow {
  readonly key: string;
  readonly value: Buffer;
}

const NEWLINE = 0x0a;
const COMMA = 0x2c;
const QUOTE = 0x22;
const READ_BYTES = 1 << 20;

/** The rows of such a file, a chunk of it at a time, without its header. Throws at a quote: these files have none. */
export async function* readCsv(path: string): AsyncGenerator<readonly CsvRow[]> {
  let rest: Buffer = Buffer.alloc(0);
  let isHeader = true;
  for await (const chunk of createReadStream(path, { highWaterMark: READ_BYTES }) as AsyncIterable<Buffer>) {
    const data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = data.lastIndexOf(NEWLINE) + 1;
    const rows = rowsOf(data.subarray(0, end));
    rest = data.subarray(end);
    yield isHeader ? rows.slice(1) : rows;
    isHeader = false;
  }
  if (rest.length > 0) throw new Error(`${path}: the last line does not end`);
}

function rowsOf(data: Buffer): CsvRow[] {
  if (data.includes(QUOTE)) throw new Error('quoted fields are not read here');
  const rows: CsvRow[] = [];
  for (let start = 0; start < data.length;) {
    const comma = data.indexOf(COMMA, start);
    const end = data.indexOf(NEWLINE, comma);
    rows.push({ key: data.toString('latin1', start, comma), value: data.subarray(comma + 1, end) });
    start = end + 1;
  }
  return rows;
}
