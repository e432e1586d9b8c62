import { printableBytes } from '../../../../../shared/model/bytes.ts';
import type { MutateRowsRequest_Entry } from '../../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import type {
  Mutation,
  Mutation_AddToCell,
  Mutation_MergeToCell,
  Value,
} from '../../../../../shared/proto/google/bigtable/v2/data.ts';
import type { Limits } from '../limits.ts';
import { stateLength } from './aggregates.ts';
import type { Family } from './schema.ts';

/**
 * What the service refuses of a write before it applies any of it. Each function returns the rule that is broken, or
 * undefined. Pure. Timestamps are of millisecond granularity, the only one that tables have.
 */

/** The families of a table by name. */
export type Families = ReadonlyMap<string, Family>;

/** The end of the service's message for a family that the table does not have. Clients look for it. */
export const MISSING_FAMILY = 'Requested column family not found.';

/** A broken rule of a whole request: no entries, or too many mutations. */
export function requestProblem(entries: readonly MutateRowsRequest_Entry[], limits: Limits): string | undefined {
  if (entries.length === 0) return 'No entries provided';
  let mutations = 0;
  for (const entry of entries) mutations += entry.mutations.length;
  return mutations > limits.mutations
    ? `Request has ${mutations} mutations; the total may not exceed ${limits.mutations}`
    : undefined;
}

/** A broken rule of one entry that needs no schema to see. */
export function entryProblem(
  { rowKey, mutations, idempotency }: MutateRowsRequest_Entry,
  limits: Limits,
): string | undefined {
  if (mutations.length === 0) return 'No mutations provided';
  if (idempotency && idempotency.token.length < limits.tokenBytes) {
    return `Idempotency token must have at least ${limits.tokenBytes} bytes`;
  }
  return rowKeyProblem(rowKey, limits) ?? mutationsProblem(rowKey, mutations, limits);
}

/** A broken rule of a row key. */
export function rowKeyProblem(rowKey: Buffer, limits: Limits): string | undefined {
  if (rowKey.length === 0) return 'Row keys must be non-empty';
  return rowKey.length > limits.rowKeyBytes
    ? `Row key has ${rowKey.length} bytes; it may not exceed ${limits.rowKeyBytes}`
    : undefined;
}

/** A broken rule of a list of mutations for one row. An empty list is the caller's to judge. */
export function mutationsProblem(rowKey: Buffer, mutations: readonly Mutation[], limits: Limits): string | undefined {
  if (mutations.length > limits.mutations) {
    return `Row has ${mutations.length} mutations; it may not have more than ${limits.mutations}`;
  }
  let bytes = rowKey.length;
  for (const mutation of mutations) {
    const problem = mutationProblem(mutation, limits);
    if (problem !== undefined) return problem;
    bytes += payloadBytes(mutation);
  }
  return bytes > limits.entryBytes
    ? `Mutation of a row has ${bytes} bytes; it may not exceed ${limits.entryBytes}`
    : undefined;
}

function mutationProblem({ mutation }: Mutation, limits: Limits): string | undefined {
  switch (mutation?.$case) {
    case 'setCell': {
      const { columnQualifier, timestampMicros, value } = mutation.value;
      if (value.length > limits.valueBytes) {
        return `Cell value has ${value.length} bytes; it may not exceed ${limits.valueBytes}`;
      }
      return (
        qualifierProblem(columnQualifier, limits) ??
        (timestampMicros === -1n ? undefined : timestampProblem(timestampMicros))
      );
    }
    case 'addToCell':
    case 'mergeToCell':
      return aggregateShapeProblem(mutation.value, limits);
    case 'deleteFromColumn': {
      const { columnQualifier, timeRange } = mutation.value;
      return (
        qualifierProblem(columnQualifier, limits) ??
        (timeRange && timeRangeProblem(timeRange.startTimestampMicros, timeRange.endTimestampMicros))
      );
    }
    case 'deleteFromFamily':
    case 'deleteFromRow':
      return undefined;
    case undefined:
      return 'Mutation is not set';
  }
}

function aggregateShapeProblem(
  { columnQualifier, timestamp, input }: Mutation_AddToCell | Mutation_MergeToCell,
  limits: Limits,
): string | undefined {
  if (columnQualifier?.kind?.$case !== 'rawValue') return 'column_qualifier must be a raw_value';
  if (timestamp?.kind?.$case !== 'rawTimestampMicros') return 'timestamp must be a raw_timestamp_micros';
  if (!input?.kind) return 'input must be set';
  return qualifierProblem(columnQualifier.kind.value, limits) ?? timestampProblem(timestamp.kind.value);
}

/** A broken rule of a range of timestamps, in microseconds; an end of 0 is no bound. Filters obey the same rule. */
export function timeRangeProblem(startMicros: bigint, endMicros: bigint): string | undefined {
  return (
    timestampProblem(startMicros) ??
    timestampProblem(endMicros) ??
    (endMicros !== 0n && startMicros >= endMicros
      ? `Timestamp range is empty: start ${startMicros}, end ${endMicros}`
      : undefined)
  );
}

function timestampProblem(micros: bigint): string | undefined {
  if (micros < 0n) return `Invalid timestamp: ${micros} is negative`;
  return micros % 1000n === 0n
    ? undefined
    : `Timestamp granularity mismatch. Expected a multiple of 1000 (millisecond granularity), but got ${micros}.`;
}

const qualifierProblem = (qualifier: Buffer, limits: Limits): string | undefined =>
  qualifier.length > limits.qualifierBytes
    ? `Column qualifier has ${qualifier.length} bytes; it may not exceed ${limits.qualifierBytes}`
    : undefined;

/** The first family that the mutations name and the table does not have. */
export function missingFamily(mutations: readonly Mutation[], families: Families): string | undefined {
  for (const { mutation } of mutations) {
    if (!mutation || mutation.$case === 'deleteFromRow') continue;
    if (!families.has(mutation.value.familyName)) return mutation.value.familyName;
  }
  return undefined;
}

/** The service's words when a row's mutations name a family that the table does not have. They do not name it. */
export const missingFamilyMessage = (rowKey: Buffer, tablePath: string): string =>
  `Error while mutating the row '${printableBytes(rowKey)}' (${tablePath}) : ${MISSING_FAMILY}`;

/** A mutation that its family's type does not take. All families named must exist. */
export function typeProblem(mutations: readonly Mutation[], families: Families): string | undefined {
  for (const { mutation } of mutations) {
    switch (mutation?.$case) {
      case 'setCell':
        if (families.get(mutation.value.familyName)?.aggregate) {
          return `SetCell is not allowed in the aggregate column family '${mutation.value.familyName}'`;
        }
        break;
      case 'addToCell':
      case 'mergeToCell': {
        const problem = operandProblem(mutation.$case, mutation.value, families.get(mutation.value.familyName));
        if (problem !== undefined) return problem;
        break;
      }
      case 'deleteFromColumn':
      case 'deleteFromFamily':
      case 'deleteFromRow':
      case undefined:
        break;
    }
  }
  return undefined;
}

function operandProblem(
  operation: 'addToCell' | 'mergeToCell',
  { familyName, input }: Mutation_AddToCell | Mutation_MergeToCell,
  family: Family | undefined,
): string | undefined {
  const name = operation === 'addToCell' ? 'AddToCell' : 'MergeToCell';
  if (!family?.aggregate) return `${name} is only allowed in aggregate column families; '${familyName}' is not one`;
  const expected = operation === 'addToCell' ? INPUT_KINDS[family.aggregate.input] : 'bytesValue';
  if (input?.kind?.$case !== expected) {
    return `${name} in column family '${familyName}' takes ${expected}, but got ${input?.kind?.$case ?? 'nothing'}`;
  }
  const length = stateLength(family.aggregate);
  return operation === 'mergeToCell' && valueLength(input) !== length
    ? `MergeToCell in column family '${familyName}' takes a state of ${length} bytes, but got ${valueLength(input)}`
    : undefined;
}

const INPUT_KINDS = { int64: 'intValue', bytes: 'bytesValue', string: 'stringValue' } as const;

const valueLength = ({ kind }: Value): number => (kind && Buffer.isBuffer(kind.value) ? kind.value.length : 0);

function payloadBytes({ mutation }: Mutation): number {
  switch (mutation?.$case) {
    case 'setCell':
      return mutation.value.columnQualifier.length + mutation.value.value.length;
    case 'deleteFromColumn':
      return mutation.value.columnQualifier.length;
    case 'addToCell':
    case 'mergeToCell':
      return mutation.value.input ? valueLength(mutation.value.input) : 0;
    case 'deleteFromFamily':
    case 'deleteFromRow':
    case undefined:
      return 0;
  }
}
