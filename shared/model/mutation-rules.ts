import { MAX_INT64 } from './int64.ts';
import { MAX_MUTATIONS, MAX_ROW_KEY_BYTES, type Mutation, SERVER_TIME_MICROS } from './mutation.ts';

/**
 * What Bigtable asks of keys and mutations, as far as it can be told without it. Pure. A `…Rule` says what is wrong with
 * a value without naming it, for a caller that knows its place; a `…Problem` names it.
 */

/** Why bytes cannot be a row key; undefined when they can. */
export function rowKeyRule(rowKey: Buffer): string | undefined {
  if (rowKey.length === 0) return 'must not be empty, got no byte';
  if (rowKey.length <= MAX_ROW_KEY_BYTES) return undefined;
  return `must be at most ${MAX_ROW_KEY_BYTES} bytes, got ${rowKey.length}`;
}

export const rowKeyProblem = (rowKey: Buffer): string | undefined => named('row key:', rowKeyRule(rowKey));

/** Why a list of mutations cannot be applied to one row, or undefined. An empty list is no problem here. */
export function mutationsProblem(mutations: readonly Mutation[], label: string): string | undefined {
  if (mutations.length > MAX_MUTATIONS) {
    return `${label}: must be at most ${MAX_MUTATIONS} mutations, got ${mutations.length}`;
  }
  for (const [index, mutation] of mutations.entries()) {
    const problem = mutationProblem(mutation);
    if (problem !== undefined) return `${label}[${index}] (${mutation.kind}): ${problem}`;
  }
  return undefined;
}

/** Why a mutation cannot be applied to any row, or undefined. */
export function mutationProblem(mutation: Mutation): string | undefined {
  switch (mutation.kind) {
    case 'deleteFromRow':
      return undefined;
    case 'deleteFromFamily':
      return familyProblem(mutation.family);
    case 'setCell':
      return familyProblem(mutation.family) ?? named('timestamp', cellTimeRule(mutation.timestampMicros));
    case 'addToCell':
    case 'mergeToCell':
      return familyProblem(mutation.family) ?? named('timestamp', aggregateTimeRule(mutation.timestampMicros));
    case 'deleteFromColumn':
      return familyProblem(mutation.family) ?? rangeProblem(mutation.startTimestampMicros, mutation.endTimestampMicros);
  }
}

/** Why a name cannot be a family's, or undefined. */
export const familyRule = (family: string): string | undefined =>
  family.trim() === '' ? 'must not be blank, got a blank text' : undefined;

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
  if (micros >= least && micros <= MAX_INT64) return undefined;
  return `must be from ${least} to 2^63 − 1 microseconds, got ${micros}`;
}

function rangeProblem(start: bigint | undefined, end: bigint | undefined): string | undefined {
  return (
    named('start timestamp', start === undefined ? undefined : rangeStartRule(start)) ??
    named('end timestamp', end === undefined ? undefined : (rangeEndRule(end) ?? rangeRule(start, end)))
  );
}

const named = (name: string, rule: string | undefined): string | undefined =>
  rule === undefined ? undefined : `${name} ${rule}`;
