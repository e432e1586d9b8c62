import { RecordError } from '../../base/errors.ts';
import type { FailedSource } from '../../letters/failed-record.ts';
import { decodeEntry, toWireMutation } from '../../mapping/rows/entry-wire.ts';
import { isIdentity } from '../../model/identity.ts';
import { familyProblem, mutationsProblem, rowKeyProblem } from '../../model/mutation-rules.ts';
import { MAX_MUTATIONS, type RowEntry } from '../../model/mutation.ts';
import type { FramedRecord } from '../../records/framed-records.ts';
import { type IdentityRules, recordIdentity } from '../../records/identity.ts';
import { type TableName, tablePath } from '../../model/table-name.ts';
import {
  CheckAndMutateRowRequest,
  MutateRowsRequest_Entry as WireEntry,
} from '../../proto/google/bigtable/v2/bigtable.ts';
import { markerCell, markerFilter, markerTimestampMicros } from '../../markers/marker.ts';
import { type Envelope, type EnvelopeSource, readEnvelope } from './envelope.ts';

export interface NewEnvelope {
  /** 32 lowercase hexadecimal digits. */
  readonly identity: string;
  readonly table: TableName;
  readonly appProfileId: string;
  /** An untyped family of the table that holds nothing but markers. */
  readonly markerFamily: string;
  /** The same at every delivery: see `marker-lifetime.ts`. */
  readonly markerTimestampMicros: bigint;
  readonly entry: RowEntry;
  readonly source: EnvelopeSource;
}

/** One less than a request may hold: the marker is the last. */
export const MAX_ENVELOPE_MUTATIONS = MAX_MUTATIONS - 1;

/**
 * The largest request, in bytes. A record is at most a Pub/Sub message (10 MB); this is the room for what its
 * serializer makes of it, far below what Bigtable takes (256 MB) and small enough to be read back whole.
 */
export const MAX_ENVELOPE_BYTES = 32 * 1024 * 1024;

/**
 * Freezes a record's entry. Pure. Throws a {@link RecordError} for an entry that cannot be applied exactly once, or
 * not at all: it names the rule and what to do.
 *
 * A cell with server time (−1) is taken: the service stamps it when the effect is applied, which happens once, so a
 * replay adds no version.
 */
export function createEnvelope(given: NewEnvelope): Envelope {
  const { entry, markerFamily, identity, source } = given;
  if (!isIdentity(identity)) throw new TypeError(`identity: must be 32 lowercase hexadecimal digits, got ${identity}`);
  const problem = familyProblem(markerFamily);
  if (problem !== undefined) throw new TypeError(`markerFamily: ${problem}`);
  refuse(entryProblem(entry, markerFamily));
  const marker = markerCell(markerFamily, identity, given.markerTimestampMicros);
  const request = CheckAndMutateRowRequest.encode({
    tableName: tablePath(given.table),
    authorizedViewName: '',
    appProfileId: given.appProfileId,
    rowKey: entry.rowKey,
    predicateFilter: markerFilter(markerFamily, [identity]),
    trueMutations: [],
    falseMutations: [...entry.mutations.map(toWireMutation), marker],
  }).finish();
  if (request.length > MAX_ENVELOPE_BYTES) {
    refuse(`entry: must be at most ${MAX_ENVELOPE_BYTES} bytes, got ${request.length}; split the record`);
  }
  // Read as it will be when it is committed: what could not be read then is never stored.
  return readEnvelope(Buffer.from(request.buffer, request.byteOffset, request.byteLength), source);
}

/** An envelope and its record, as the message brought it. */
export interface ReceivedEnvelope {
  readonly envelope: Envelope;
  readonly record: FailedSource;
  /** It came in a dead letter that was published back: it waited for a person, which is no latency. */
  readonly isReplayed: boolean;
}

/** What of a pipeline goes into its envelopes. */
export interface EnvelopeOptions extends IdentityRules {
  /** Empty is the instance's default profile. */
  readonly appProfileId: string;
  readonly markerFamily: string;
  readonly markerHorizonMillis?: number;
}

/** Freezes what a record became. Pure. Throws a `RecordError` for an entry that cannot be applied exactly once. */
export function envelopeOfRecord(
  record: FramedRecord,
  table: TableName,
  entry: RowEntry,
  options: EnvelopeOptions,
): Envelope {
  const { messageId, publishTimeMicros } = record.message;
  return createEnvelope({
    identity: recordIdentity(record, options),
    table,
    appProfileId: options.appProfileId,
    markerFamily: options.markerFamily,
    markerTimestampMicros: markerTimestampMicros(publishTimeMicros, options.markerHorizonMillis),
    entry,
    source: { messageId, recordIndex: record.index, publishTimeMicros },
  });
}

/** The record's own entry, without the marker: what a dead letter holds. */
export function entryOf({ request }: Envelope): RowEntry {
  const { rowKey, falseMutations } = CheckAndMutateRowRequest.decode(request);
  const mutations = falseMutations.slice(0, -1);
  return decodeEntry(Buffer.from(WireEntry.encode({ rowKey, mutations, idempotency: undefined }).finish()));
}

function entryProblem({ rowKey, mutations }: RowEntry, markerFamily: string): string | undefined {
  if (mutations.length === 0 || mutations.length > MAX_ENVELOPE_MUTATIONS) {
    return `entry.mutations: must hold 1 to ${MAX_ENVELOPE_MUTATIONS} mutations beside the marker, got ${mutations.length}; skip an empty record, split a larger one`;
  }
  for (const [index, mutation] of mutations.entries()) {
    if (mutation.kind === 'deleteFromRow') {
      return `entry.mutations[${index}] (deleteFromRow): would delete the row's markers, and every earlier effect of the row could count again; delete the data's families one by one (deleteFromFamily)`;
    }
    if (mutation.family === markerFamily) {
      return `entry.mutations[${index}] (${mutation.kind}): names the marker family ${JSON.stringify(markerFamily)}, which only the connector writes; use another family for data`;
    }
  }
  return rowKeyProblem(rowKey) ?? mutationsProblem(mutations, 'entry.mutations');
}

function refuse(problem: string | undefined): void {
  if (problem !== undefined) throw new RecordError(problem);
}
