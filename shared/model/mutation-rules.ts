import { MAX_INT64 } from './int64.ts';
import {
  GRANULARITY_MICROS,
  MAX_MUTATIONS,
  MAX_QUALIFIER_BYTES,
  MAX_ROW_KEY_BYTES,
  MAX_VALUE_BYTES,
  type Mutation,
  SERVER_TIME_MICROS,
} from './mutation.ts';

/**
 * What Bigtable asks of keys and mutations, as far as it can be told without it. Pure. A `…Rule` says what is wrong with
 * a value without naming it, for a caller that knows its place; a `…Problem` names it.
 */

/** Why bytes cannot be a row key; undefined when they can. */
export function rowKeyRule(rowKey: Buffer): string | undefined {
  return rowKey.length === 0 ? 'must not be empty, got no byte' : lengthRule(rowKey, MAX_ROW_KEY_BYTES);
}

export const rowKeyProblem = (rowKey: Buffer): string | undefined => named('row key:', rowKeyRule(rowKey));

/**
 * Why a list of mutations cannot be applied to one row, or undefined. An empty list is no problem here. Asked once for
 * each record: what a mutation has in common with the one before it is not looked at again.
 */
export function mutationsProblem(mutations: readonly Mutation[], label: string): string | undefined {
  if (mutations.length > MAX_MUTATIONS) {
    return `${label}: must be at most ${MAX_MUTATIONS} mutations, got ${mutations.length}`;
  }
  let before: Mutation | undefined;
  let index = 0;
  for (const mutation of mutations) {
    const problem = isPlainLike(before, mutation) ? undefined : mutationProblem(mutation);
    if (problem !== undefined) return `${label}[${index}] (${mutation.kind}): ${problem}`;
    before = mutation;
    index += 1;
  }
  return undefined;
}

/** The cells of a record nearly always have one family and one time, which are right if the first are. */
const isPlainLike = (before: Mutation | undefined, mutation: Mutation): boolean =>
  mutation.kind === 'setCell' &&
  before?.kind === 'setCell' &&
  mutation.family === before.family &&
  mutation.timestampMicros === before.timestampMicros &&
  mutation.qualifier.length <= MAX_QUALIFIER_BYTES &&
  mutation.value.length <= MAX_VALUE_BYTES;

/** Why a mutation cannot be applied to any row, or undefined. */
export function mutationProblem(mutation: Mutation): string | undefined {
  switch (mutation.kind) {
    case 'deleteFromRow':
      return undefined;
    case 'deleteFromFamily':
      return familyProblem(mutation.family);
    case 'setCell':
      return (
        familyProblem(mutation.family) ??
        bytesProblem(mutation) ??
        named('timestamp', cellTimeRule(mutation.timestampMicros))
      );
    case 'addToCell':
    case 'mergeToCell':
      return (
        familyProblem(mutation.family) ??
        bytesProblem(mutation) ??
        named('timestamp', aggregateTimeRule(mutation.timestampMicros))
      );
    case 'deleteFromColumn':
      return (
        familyProblem(mutation.family) ??
        bytesProblem(mutation) ??
        rangeProblem(mutation.startTimestampMicros, mutation.endTimestampMicros)
      );
  }
}

/** Of the qualifier and the value, where the mutation has them. */
function bytesProblem(mutation: Mutation): string | undefined {
  if (!('qualifier' in mutation)) return undefined;
  const { kind, qualifier } = mutation;
  return qualifierProblem(qualifier) ?? (kind === 'setCell' ? valueProblem(mutation.value) : undefined);
}

/** Why bytes cannot be a qualifier; undefined when they can. No byte at all can. */
export const qualifierRule = (qualifier: Buffer): string | undefined => lengthRule(qualifier, MAX_QUALIFIER_BYTES);

export const qualifierProblem = (qualifier: Buffer): string | undefined => named('qualifier', qualifierRule(qualifier));

/** Why bytes cannot be the value of a cell, or undefined. */
export const valueProblem = (value: Buffer): string | undefined => named('value', lengthRule(value, MAX_VALUE_BYTES));

const lengthRule = ({ length }: Buffer, most: number): string | undefined =>
  length <= most ? undefined : `must be at most ${most} bytes, got ${length}`;

/** What the names of families are made of (the `family_name` of https://cloud.google.com/bigtable/docs/reference/data/rpc/google.bigtable.v2#mutation). */
const FAMILY = /^[-_.a-zA-Z0-9]+$/;

/** Why a name cannot be a family's, or undefined. */
export function familyRule(family: string): string | undefined {
  if (FAMILY.test(family)) return undefined;
  if (family.trim() === '') return 'must not be blank, got a blank text';
  return 'must be letters, digits, "_", "-" and ".", got another text';
}

export const familyProblem = (family: string): string | undefined => named('family', familyRule(family));

/** A cell that is set may take the service's clock. */
export const cellTimeRule = (micros: bigint): string | undefined => timeRule(micros, SERVER_TIME_MICROS);

/** An aggregate takes no server time. */
export const aggregateTimeRule = (micros: bigint): string | undefined => timeRule(micros, 0n);

/** The start of a range is inclusive, and so may be 0. */
export const rangeStartRule = (micros: bigint): string | undefined => timeRule(micros, 0n);

/** The end of a range is exclusive: nothing is before 0. */
export const rangeEndRule = (micros: bigint): string | undefined => timeRule(micros, 1n);

/** Why a range of times, each of which is right alone, holds no time. */
export const rangeRule = (start: bigint | undefined, end: bigint | undefined): string | undefined =>
  start === undefined || end === undefined || start < end ? undefined : `must be above the start ${start}, got ${end}`;

function timeRule(micros: bigint, least: bigint): string | undefined {
  if (micros < least || micros > MAX_INT64) return `must be from ${least} to 2^63 − 1 microseconds, got ${micros}`;
  if (micros % GRANULARITY_MICROS === 0n || micros === SERVER_TIME_MICROS) return undefined;
  return `must be whole milliseconds (a multiple of ${GRANULARITY_MICROS}), got ${micros}`;
}

function rangeProblem(start: bigint | undefined, end: bigint | undefined): string | undefined {
  return (
    named('start timestamp', start === undefined ? undefined : rangeStartRule(start)) ??
    named('end timestamp', end === undefined ? undefined : (rangeEndRule(end) ?? rangeRule(start, end)))
  );
}

const named = (name: string, rule: string | undefined): string | undefined =>
  rule === undefined ? undefined : `${name} ${rule}`;
