import type { Metadata } from '@grpc/grpc-js';
import { STATUS_CODES, type Status } from '../../../../../shared/model/status.ts';
import type {
  MutateRowsRequest,
  MutateRowsResponse,
  MutateRowsResponse_Entry,
  RateLimitInfo,
} from '../../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import { nowMicros, tableOf, type Database } from '../database.ts';
import type { EffectOf } from '../faults.ts';
import { announcedFeatures } from './features.ts';
import type { TableCopy } from '../rows/table-copy.ts';
import { entryProblem, missingFamily, missingFamilyMessage, requestProblem, typeProblem } from '../rows/validate.ts';

/** The answer to one request: its messages, then the end of the stream: OK or, from a fault, a status. */
export interface MutateRowsAnswer {
  readonly messages: readonly MutateRowsResponse[];
  readonly end: Status | undefined;
}

type Effect = EffectOf<'MutateRows'> | undefined;

/**
 * MutateRows with the service's verdicts. One malformed entry refuses the whole request with INVALID_ARGUMENT; one
 * entry with an unknown family makes every entry NOT_FOUND; either way nothing is written. Otherwise every entry is
 * applied, in the order of the request (the service promises none), and answered by index.
 */
export function mutateRows(
  database: Database,
  request: MutateRowsRequest,
  effect: Effect,
  understandsRateLimit: boolean,
): MutateRowsAnswer {
  const table = tableOf(database, request);
  refuseMalformed(database, request);
  if (request.entries.some(({ mutations }) => missingFamily(mutations, table.families) !== undefined)) {
    return shape(
      request.entries.map(({ rowKey }, index) => missing(index, rowKey, table)),
      effect,
      understandsRateLimit,
    );
  }
  refuseMistyped(table, request);
  const statuses = commitAll(database, table, request, effect);
  return shape(statuses, effect, understandsRateLimit);
}

function refuseMalformed({ limits }: Database, { entries }: MutateRowsRequest): void {
  const problem = requestProblem(entries, limits);
  if (problem !== undefined) throw new GrpcError('INVALID_ARGUMENT', problem);
  for (const [index, entry] of entries.entries()) {
    const broken = entryProblem(entry, limits);
    if (broken !== undefined) throw new GrpcError('INVALID_ARGUMENT', `Error in entry ${index}: ${broken}`);
  }
}

function refuseMistyped({ families }: TableCopy, { entries }: MutateRowsRequest): void {
  for (const [index, { mutations }] of entries.entries()) {
    const broken = typeProblem(mutations, families);
    if (broken !== undefined) throw new GrpcError('INVALID_ARGUMENT', `Error in entry ${index}: ${broken}`);
  }
}

const missing = (index: number, rowKey: Buffer, { name }: TableCopy): MutateRowsResponse_Entry =>
  answered(index, { code: 'NOT_FOUND', message: missingFamilyMessage(rowKey, name) });

function commitAll(
  database: Database,
  table: TableCopy,
  { entries }: MutateRowsRequest,
  effect: Effect,
): MutateRowsResponse_Entry[] {
  const now = nowMicros(database);
  const refused = effect?.kind === 'entry-statuses' ? effect.statuses : undefined;
  const applied = effect?.kind === 'cut' && !effect.isRestApplied ? effect.entries : entries.length;
  return entries.map((entry, index) => {
    const status = refused?.get(index);
    if (status) return answered(index, status);
    if (index < applied) table.commit(entry, now);
    return answered(index, undefined);
  });
}

/** Turns the entries' answers into messages, with the fault's damage to them. */
function shape(entries: MutateRowsResponse_Entry[], effect: Effect, understandsRateLimit: boolean): MutateRowsAnswer {
  switch (effect?.kind) {
    case 'cut':
      return { messages: [{ entries: entries.slice(0, effect.entries) }], end: effect.status };
    case 'omit-status':
      return whole(entries.map((entry, index) => (index === effect.index ? { ...entry, status: undefined } : entry)));
    case 'stray-answer':
      return whole([...entries, answered(effect.index, effect.status)]);
    case 'rate-limit':
      return whole(entries, understandsRateLimit ? { rateLimitInfo: rateLimitInfo(effect) } : {});
    case 'entry-statuses':
    case 'refuse':
    case 'lose-answer':
    case 'delay':
    case 'never-answer':
    case undefined:
      return whole(entries);
  }
}

const whole = (
  entries: MutateRowsResponse_Entry[],
  more: Pick<MutateRowsResponse, 'rateLimitInfo'> = {},
): MutateRowsAnswer => ({ messages: [{ entries, ...more }], end: undefined });

const APPLIED = { code: STATUS_CODES.OK, message: '', details: [] };

/** The answer to one entry; no status means applied. */
const answered = (index: number, status: Status | undefined): MutateRowsResponse_Entry => ({
  index: BigInt(index),
  status: status ? { code: STATUS_CODES[status.code], message: status.message, details: [] } : APPLIED,
});

/** Whether the caller announced that it obeys `RateLimitInfo`; the service sends it to no other. */
export function announcesRateLimit(metadata: Metadata): boolean {
  const { mutateRowsRateLimit, mutateRowsRateLimit2 } = announcedFeatures(metadata);
  return mutateRowsRateLimit || mutateRowsRateLimit2;
}

/** Asks the caller to multiply its rate by `factor`, once per period. */
export const rateLimitInfo = ({ periodMillis, factor }: { periodMillis: number; factor: number }): RateLimitInfo => ({
  period: { seconds: BigInt(Math.floor(periodMillis / 1000)), nanos: (periodMillis % 1000) * 1_000_000 },
  factor,
});
