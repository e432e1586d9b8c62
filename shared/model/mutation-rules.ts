import { MAX_MUTATIONS, MAX_ROW_KEY_BYTES, type Mutation, SERVER_TIME_MICROS } from './mutation.ts';

const MAX_INT64 = 2n ** 63n - 1n;

/** Why bytes cannot be a row key; undefined when they can. */
export function rowKeyProblem(rowKey: Buffer): string | undefined {
  if (rowKey.length === 0) return 'row key: must not be empty, got no byte';
  if (rowKey.length <= MAX_ROW_KEY_BYTES) return undefined;
  return `row key: must be at most ${MAX_ROW_KEY_BYTES} bytes, got ${rowKey.length}`;
}

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

function mutationProblem(mutation: Mutation): string | undefined {
  switch (mutation.kind) {
    case 'deleteFromRow':
      return undefined;
    case 'deleteFromFamily':
      return familyProblem(mutation.family);
    case 'setCell':
      return (
        familyProblem(mutation.family) ?? timestampProblem('timestamp', mutation.timestampMicros, SERVER_TIME_MICROS)
      );
    case 'addToCell':
    case 'mergeToCell':
      return familyProblem(mutation.family) ?? timestampProblem('timestamp', mutation.timestampMicros, 0n);
    case 'deleteFromColumn':
      return familyProblem(mutation.family) ?? rangeProblem(mutation.startTimestampMicros, mutation.endTimestampMicros);
  }
}

/** Why a name cannot be a family's, or undefined. */
export const familyProblem = (family: string): string | undefined =>
  family.trim() === '' ? 'family must not be blank, got a blank text' : undefined;

function timestampProblem(name: string, micros: bigint, least: bigint): string | undefined {
  if (micros >= least && micros <= MAX_INT64) return undefined;
  return `${name} must be from ${least} to 2^63 − 1 microseconds, got ${micros}`;
}

function rangeProblem(start: bigint | undefined, end: bigint | undefined): string | undefined {
  const problem =
    (start === undefined ? undefined : timestampProblem('start timestamp', start, 0n)) ??
    (end === undefined ? undefined : timestampProblem('end timestamp', end, 1n));
  if (problem !== undefined || start === undefined || end === undefined || start < end) return problem;
  return `end timestamp must be above the start ${start}, got ${end}`;
}
