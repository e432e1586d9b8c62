/** Places by a hash of the name; a name that finds its place taken takes it over. */
const PLACES = 64;

/** Longer qualifiers hold data rather than name a column, and are not kept. */
const MAX_KEPT_BYTES = 64;

/** So many names in a row that were not known: this table's qualifiers hold data, and keeping them costs more than it saves. */
const MAX_MISSES = 1000;

interface Known {
  readonly bytes: Buffer;
  readonly text: string;
}

/**
 * Families and qualifiers that came before. The columns of a table are those of nearly every row, so that nearly all of them
 * are found by comparing a few bytes, where a buffer or a text for each costs more than the rest of a cell.
 */
export class KnownNames {
  readonly #families = new Array<Known | undefined>(PLACES);
  readonly #qualifiers = new Array<Buffer | undefined>(PLACES);
  #misses = 0;

  family(message: Buffer, start: number, end: number): string {
    const place = hash(message, start, end);
    const known = this.#families[place];
    if (known && isAt(message, start, end, known.bytes)) return known.text;
    const bytes = Buffer.from(message.subarray(start, end));
    const text = bytes.toString('utf8');
    this.#families[place] = { bytes, text };
    return text;
  }

  qualifier(message: Buffer, start: number, end: number): Buffer {
    if (end - start > MAX_KEPT_BYTES || this.#misses === MAX_MISSES) return message.subarray(start, end);
    const place = hash(message, start, end);
    const known = this.#qualifiers[place];
    if (known && isAt(message, start, end, known)) {
      this.#misses = 0;
      return known;
    }
    this.#misses += 1;
    // A copy, because a slice would hold its message.
    return (this.#qualifiers[place] = Buffer.from(message.subarray(start, end)));
  }
}

/** Spreads names that differ in length or in their last two bytes, as most do. */
function hash(message: Buffer, start: number, end: number): number {
  if (start === end) return 0;
  return ((message[end - 1] as number) * 31 + (message[Math.max(start, end - 2)] as number) * 7 + end - start) % PLACES;
}

function isAt(message: Buffer, start: number, end: number, bytes: Buffer): boolean {
  if (end - start !== bytes.length) return false;
  for (let index = 0; index < bytes.length; index += 1) if (message[start + index] !== bytes[index]) return false;
  return true;
}
