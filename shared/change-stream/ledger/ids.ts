import { createHash, type Hash } from 'node:crypto';
import type { Bound, RowRange } from '../../model/row-range.ts';
import type { Token } from './partition.ts';

/**
 * Names of what the ledger holds: SHA-256 over the kinds and length-prefixed keys and texts, in hexadecimal digits. Equal
 * values have equal names; no rendering of a key is part of one. The same commit, made twice, names the same documents.
 */

/**
 * A partition's name. None ever recurs, because its origin does not: the partition whose end made it, which ends once; or
 * the version of the topology at which it was recovered, or the start. Range and tokens alone would not do: a partition
 * that moves twice before anything changes in it has the same token again.
 *
 * @param origin of a child the name of its parent, of which the last one counts that closed; otherwise see above.
 */
export function partitionId(generation: number, range: RowRange, tokens: readonly Token[], origin: string): string {
  const hash = createHash('sha256');
  addText(hash, `partition/${generation}`);
  addRange(hash, range);
  for (const token of tokens) {
    addRange(hash, token.range);
    addText(hash, token.token);
  }
  addText(hash, origin);
  return hash.digest('hex');
}

/** The name of the tokens that wait for a target. */
export const mergeId = (generation: number, target: RowRange): string => rangeId(`merge/${generation}`, target);

/** The name of a part of the key space that nobody has. @param origin of the same kind as a partition's. */
export const missingId = (generation: number, range: RowRange, origin: string): string =>
  rangeId(`missing/${generation}`, range, origin);

function rangeId(kind: string, range: RowRange, origin = ''): string {
  const hash = createHash('sha256');
  addText(hash, kind);
  addRange(hash, range);
  addText(hash, origin);
  return hash.digest('hex');
}

function addRange(hash: Hash, { start, end }: RowRange): void {
  addBound(hash, start);
  addBound(hash, end);
}

function addBound(hash: Hash, bound: Bound): void {
  addText(hash, bound.kind);
  if (bound.kind !== 'unbounded') addBytes(hash, bound.key);
}

const addText = (hash: Hash, text: string): void => {
  addBytes(hash, Buffer.from(text));
};

function addBytes(hash: Hash, bytes: Uint8Array): void {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  hash.update(length).update(bytes);
}
