import { hash } from 'node:crypto';

/**
 * What an aggregate family does with an input. Cells hold the state as bytes: 8 bytes big-endian for the Int64
 * aggregates, as the service returns them; for the distinct count, a sketch of our own (see {@link addDistinct}).
 * Pure.
 */
export type Aggregator = 'sum' | 'min' | 'max' | 'distinct';

/** What the family adds: the kind of `Value` that `AddToCell` must carry. */
export type AggregateInput = 'int64' | 'bytes' | 'string';

export interface Aggregate {
  readonly aggregator: Aggregator;
  readonly input: AggregateInput;
}

/** An input or a state, taken out of the wire's `Value`. */
export type AggregateOperand = bigint | Buffer;

/** The state after one more input; `state` is undefined for a cell that does not exist yet. */
export function addInput(aggregate: Aggregate, state: Buffer | undefined, input: AggregateOperand): Buffer {
  if (aggregate.aggregator === 'distinct')
    return addDistinct(state, typeof input === 'bigint' ? int64Bytes(input) : input);
  return mergeState(aggregate, state, typeof input === 'bigint' ? int64Bytes(input) : input);
}

/** The union of two states. Both must have the length that {@link stateLength} says. */
export function mergeState({ aggregator }: Aggregate, state: Buffer | undefined, other: Buffer): Buffer {
  if (!state) return other;
  if (aggregator === 'distinct') return mergeDistinct(state, other);
  const left = state.readBigInt64BE();
  const right = other.readBigInt64BE();
  return int64Bytes(combine(aggregator, left, right));
}

/** Bytes of a state of this aggregate. */
export const stateLength = ({ aggregator }: Aggregate): number => (aggregator === 'distinct' ? REGISTERS : 8);

/** An int64 as the service stores it. A sum outside int64 wraps around, as two's complement does; the service documents nothing. */
export function int64Bytes(value: bigint): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigInt64BE(BigInt.asIntN(64, value));
  return bytes;
}

function combine(aggregator: 'sum' | 'min' | 'max', left: bigint, right: bigint): bigint {
  switch (aggregator) {
    case 'sum':
      return left + right;
    case 'min':
      return left < right ? left : right;
    case 'max':
      return left > right ? left : right;
  }
}

const INDEX_BITS = 12;
const REGISTERS = 2 ** INDEX_BITS;

/**
 * The distinct count is a plain HyperLogLog of 4,096 one-byte registers over SHA-1: a real sketch whose states merge
 * as the service's do, with a standard error of 1.6 %. It is **not** the service's HLL++ encoding: a state read here
 * means nothing to BigQuery's or Bigtable's own functions, and one read there cannot be merged here.
 */
function addDistinct(state: Buffer | undefined, input: Buffer): Buffer {
  const digest = hash('sha1', input, 'buffer');
  const index = digest.readUInt16BE(0) >>> (16 - INDEX_BITS);
  // The rank is the position of the first one bit in the 32 bits after those that chose the register.
  const rank = Math.clz32(digest.readUInt32BE(2)) + 1;
  const registers = state ? Buffer.from(state) : Buffer.alloc(REGISTERS);
  registers[index] = Math.max(registers[index]!, rank);
  return registers;
}

function mergeDistinct(state: Buffer, other: Buffer): Buffer {
  const registers = Buffer.from(state);
  for (const [index, rank] of other.entries()) registers[index] = Math.max(registers[index]!, rank);
  return registers;
}

/** How many distinct inputs a state has seen, estimated: exact in practice up to a few dozen, then within a few per cent. */
export function estimateDistinct(state: Buffer): number {
  let sum = 0;
  let empty = 0;
  for (const rank of state) {
    sum += 2 ** -rank;
    if (rank === 0) empty += 1;
  }
  const raw = ((0.7213 / (1 + 1.079 / REGISTERS)) * REGISTERS ** 2) / sum;
  return Math.round(raw <= 2.5 * REGISTERS && empty > 0 ? REGISTERS * Math.log(REGISTERS / empty) : raw);
}
