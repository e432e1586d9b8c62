import { compareBytes } from './bytes.ts';

/** One side of a range of row keys. A key that is stored in a bound is never empty: no key at all is `unbounded`. */
export type Bound = { readonly kind: 'unbounded' } | { readonly kind: 'closed' | 'open'; readonly key: Buffer };

/**
 * Row keys from one bound to another, in the order of their unsigned bytes. A plain value: every function here gives
 * ranges whose keys are copies, so that no caller's buffer can change a range, and no range holds a larger buffer.
 */
export interface RowRange {
  readonly start: Bound;
  readonly end: Bound;
}

export const UNBOUNDED: Bound = { kind: 'unbounded' };

export const WHOLE_TABLE: RowRange = { start: UNBOUNDED, end: UNBOUNDED };

export const closedBound = (key: Uint8Array): Bound => bound('closed', key);

export const openBound = (key: Uint8Array): Bound => bound('open', key);

/** A bound of the empty key says nothing, whichever kind it has: the service answers no bound in that form. */
function bound(kind: 'closed' | 'open', key: Uint8Array): Bound {
  return key.length === 0 ? UNBOUNDED : { kind, key: Buffer.from(key) };
}

/** A copy in which an empty key is no bound. For every range that comes from outside. */
export const normaliseRange = ({ start, end }: RowRange): RowRange => ({ start: copy(start), end: copy(end) });

const copy = (side: Bound): Bound => (side.kind === 'unbounded' ? UNBOUNDED : bound(side.kind, side.key));

/** Every key that starts with `prefix`; of no bytes, the whole table. */
export const prefixRange = (prefix: Uint8Array): RowRange => ({ start: closedBound(prefix), end: prefixEnd(prefix) });

/** The first key after every key of the prefix; there is none after bytes that are all 0xFF. */
function prefixEnd(prefix: Uint8Array): Bound {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 0xff) length -= 1;
  if (length === 0) return UNBOUNDED;
  const key = Buffer.from(prefix.subarray(0, length));
  key.writeUInt8(key.readUInt8(length - 1) + 1, length - 1);
  return { kind: 'open', key };
}

/** Whether no key lies in the range. `(k, k·00)` is empty, because a key and that key with a zero byte are neighbours. */
export function isEmptyRange({ start, end }: RowRange): boolean {
  if (start.kind === 'unbounded' || end.kind === 'unbounded') return false;
  const order = compareBytes(start.key, end.key);
  if (order !== 0) return order > 0 || (start.kind === 'open' && end.kind === 'open' && isNext(start.key, end.key));
  return start.kind === 'open' || end.kind === 'open';
}

const isNext = (key: Buffer, next: Buffer): boolean =>
  next.length === key.length + 1 && next[key.length] === 0 && next.subarray(0, key.length).equals(key);

export const containsKey = ({ start, end }: RowRange, key: Uint8Array): boolean =>
  isAfterStart(start, key) && isBeforeEnd(end, key);

function isAfterStart(start: Bound, key: Uint8Array): boolean {
  return start.kind === 'unbounded' || compareBytes(key, start.key) >= (start.kind === 'open' ? 1 : 0);
}

function isBeforeEnd(end: Bound, key: Uint8Array): boolean {
  return end.kind === 'unbounded' || compareBytes(key, end.key) <= (end.kind === 'open' ? -1 : 0);
}

/** Whether both sides keep a key when the range is cut at `key`, which goes to the right side. */
export function cuts(range: RowRange, key: Uint8Array): boolean {
  return key.length > 0 && isBeforeEnd(range.end, key) && !isEmptyRange(leftOf(range, key));
}

/** What comes before `key` and what begins with it. Only for a key that {@link cuts} the range. */
export const cutAt = (range: RowRange, key: Uint8Array): readonly [left: RowRange, right: RowRange] => [
  leftOf(range, key),
  { start: closedBound(key), end: copy(range.end) },
];

const leftOf = ({ start }: RowRange, key: Uint8Array): RowRange => ({ start: copy(start), end: openBound(key) });

/** The first key that a row could have: what comes after the empty key, which no bound can hold. */
const FIRST_KEY = Buffer.of(0);

/**
 * What is left of the range after `lastKey`; it may be empty. The end stays as it is. Past the empty key, which only an
 * emulator holds, the range starts at the first key there is: an open bound of no bytes would say "unbounded".
 */
export const truncateAfter = ({ end }: RowRange, lastKey: Uint8Array): RowRange => ({
  start: lastKey.length === 0 ? closedBound(FIRST_KEY) : openBound(lastKey),
  end: copy(end),
});

/** Which start lets a range begin earlier: negative, zero or positive. */
export function compareStarts(left: Bound, right: Bound): number {
  return compareSides(left, right, -1);
}

/** Which end lets a range stop earlier: negative, zero or positive. */
export function compareEnds(left: Bound, right: Bound): number {
  return compareSides(left, right, 1);
}

/** @param outer −1 for starts, where unbounded and closed come first; 1 for ends, where they come last. */
function compareSides(left: Bound, right: Bound, outer: -1 | 1): number {
  if (left.kind === 'unbounded') return right.kind === 'unbounded' ? 0 : outer;
  if (right.kind === 'unbounded') return -outer;
  return compareBytes(left.key, right.key) || (left.kind === right.kind ? 0 : left.kind === 'closed' ? outer : -outer);
}

export const sameStart = ({ start: left }: RowRange, { start: right }: RowRange): boolean =>
  compareStarts(left, right) === 0;

export const sameEnd = ({ end: left }: RowRange, { end: right }: RowRange): boolean => compareEnds(left, right) === 0;

/**
 * The same keys in ranges that are sorted and do not touch. Two ranges touch where they overlap, or where they meet at a
 * key that one of them holds: `[a, m)` and `(m, z)` stay apart, because `m` is in neither.
 */
export function coalesce(ranges: readonly RowRange[]): RowRange[] {
  const merged: RowRange[] = [];
  for (const range of ranges.map(normaliseRange).sort((left, right) => compareStarts(left.start, right.start))) {
    const last = merged.at(-1);
    if (!last || !touch(last.end, range.start)) merged.push(range);
    else if (compareEnds(last.end, range.end) < 0) merged[merged.length - 1] = { start: last.start, end: range.end };
  }
  return merged;
}

/** Whether a range that starts at `start` goes on where one that began before it ends. */
function touch(end: Bound, start: Bound): boolean {
  if (end.kind === 'unbounded' || start.kind === 'unbounded') return true;
  const order = compareBytes(start.key, end.key);
  return order < 0 || (order === 0 && (start.kind === 'closed' || end.kind === 'closed'));
}

/** The keys that lie in a range of both lists, in ranges that are sorted and do not touch. */
export function intersect(left: readonly RowRange[], right: readonly RowRange[]): RowRange[] {
  const [ours, theirs] = [coalesce(left), coalesce(right)];
  const common: RowRange[] = [];
  for (let our = ours[0], their = theirs[0], i = 0, j = 0; our && their; our = ours[i], their = theirs[j]) {
    const range = {
      start: compareStarts(our.start, their.start) > 0 ? our.start : their.start,
      end: compareEnds(our.end, their.end) < 0 ? our.end : their.end,
    };
    if (!isEmptyRange(range)) common.push(range);
    if (compareEnds(our.end, their.end) < 0) i += 1;
    else j += 1;
  }
  return coalesce(common);
}

/**
 * A range for a person: `[row-1, row-9)`, `*` for no bound. Two different ranges never look alike; still it is no key of
 * anything.
 */
export function formatRange({ start, end }: RowRange): string {
  const open = start.kind === 'closed' ? '[' : '(';
  const close = end.kind === 'closed' ? ']' : ')';
  return `${open}${formatBound(start)}, ${formatBound(end)}${close}`;
}

const formatBound = (side: Bound): string => (side.kind === 'unbounded' ? '*' : formatRowKey(side.key));

/** A row key as it stands in a range: printable ASCII as it is, but for `\`, `*` and `,`; all else as `\xNN`. */
export function formatRowKey(key: Uint8Array): string {
  let text = '';
  for (const byte of key)
    text += isPlain(byte) ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`;
  return text;
}

const isPlain = (byte: number): boolean =>
  byte >= 0x20 && byte < 0x7f && byte !== 0x5c && byte !== 0x2a && byte !== 0x2c;

/** The key of a sample; the empty one is the end of the table. */
export const formatSampleKey = (key: Uint8Array): string => (key.length === 0 ? '*' : formatRowKey(key));
