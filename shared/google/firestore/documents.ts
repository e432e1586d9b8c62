import type { DocumentSnapshot, Timestamp as VendorTimestamp } from '@google-cloud/firestore';
import type { CheckpointState, PipelineState, SegmentHead, SegmentLease } from '../../staged/state.ts';
import { StoreError, type Version } from '../../model/store.ts';
import type { FirestoreClient } from './client.ts';

/**
 * How the state of a staged pipeline is laid out in documents:
 *
 * ```
 * pipelines/{p}                   the fields of PipelineState, kind
 * pipelines/{p}/segments/{id}     state, checkpoint, isGivenBack; payload; detail {everything else}
 * pipelines/{p}/parts/{id}-{k}    payload; orphanedAfter until the head is there
 * pipelines/{p}/checkpoints/{n}   state, number; detail {everything else}; expireAt once committed
 * ```
 *
 * Only the fields that a query names may be indexed: `state`, `checkpoint`, `isGivenBack` of `segments`, `state` and
 * `number` of `checkpoints`, each alone (no composite index). A deployment switches the single-field indexes of
 * `payload` and `detail` off for `segments`, `parts` and `checkpoints` (the fields of a map follow the map): bytes
 * cost index writes, and an indexed time would put all writes of a collection at one end of one range, 500 a second.
 * Times inside `detail` are integers, milliseconds since the epoch; only `orphanedAfter` and `expireAt` are
 * timestamps, for TTL policies, unindexed too.
 */

/** The fields of a segment's head: everything but its payload, which a listing must not read. */
export const HEAD_FIELDS = ['state', 'checkpoint', 'detail'];

/** Digits of a checkpoint's id, so that ids in their order are numbers in theirs. */
const NUMBER_DIGITS = 12;

export const checkpointId = (number: number): string => String(number).padStart(NUMBER_DIGITS, '0');

type Fields = Readonly<Record<string, unknown>>;

export const pipelineFields = (state: PipelineState): Record<string, unknown> => ({ kind: 'staged-sink', ...state });

export function readPipelineState(snapshot: DocumentSnapshot): PipelineState {
  const fields = fieldsOf(snapshot);
  const lease = mapIn(snapshot, fields, 'lease');
  const backlog = mapIn(snapshot, fields, 'backlog');
  const number = numbersOf(snapshot);
  return {
    lease: {
      owner: textIn(snapshot, lease, 'owner'),
      epoch: number(lease, 'epoch'),
      expiresAt: number(lease, 'expiresAt'),
    },
    lastCheckpoint: number(fields, 'lastCheckpoint'),
    lastCompletedAt: number(fields, 'lastCompletedAt'),
    backlog: {
      segments: number(backlog, 'segments'),
      envelopes: number(backlog, 'envelopes'),
      bytes: number(backlog, 'bytes'),
    },
    countedAt: number(fields, 'countedAt'),
  };
}

/** A new segment's document, but for its payload. */
export const stagedFields = (head: Pick<SegmentHead, 'envelopes' | 'bytes' | 'parts' | 'stagedAt'>): object => ({
  state: 'staged' satisfies SegmentHead['state'],
  detail: { envelopes: head.envelopes, bytes: head.bytes, parts: head.parts, stagedAt: head.stagedAt },
});

export function readSegmentHead(snapshot: DocumentSnapshot): SegmentHead {
  const fields = fieldsOf(snapshot);
  const detail = mapIn(snapshot, fields, 'detail');
  const number = numbersOf(snapshot);
  const isOwned = fields.checkpoint !== undefined;
  return {
    id: snapshot.id,
    state: isOwned ? 'owned' : 'staged',
    ...(isOwned && { checkpoint: number(fields, 'checkpoint') }),
    envelopes: number(detail, 'envelopes'),
    bytes: number(detail, 'bytes'),
    parts: number(detail, 'parts'),
    stagedAt: number(detail, 'stagedAt'),
    ...(detail.lease !== undefined && { lease: readLease(snapshot, mapIn(snapshot, detail, 'lease')) }),
    ...(detail.problem !== undefined && { problem: textIn(snapshot, detail, 'problem') }),
  };
}

const readLease = (snapshot: DocumentSnapshot, lease: Fields): SegmentLease => ({
  holder: textIn(snapshot, lease, 'holder'),
  expiresAt: numbersOf(snapshot)(lease, 'expiresAt'),
  attempts: numbersOf(snapshot)(lease, 'attempts'),
});

export function readPayload(snapshot: DocumentSnapshot): Buffer {
  const payload = fieldsOf(snapshot).payload;
  if (payload instanceof Uint8Array) return Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  throw malformed(snapshot, 'payload', 'bytes');
}

export const checkpointFields = ({ number, state, ...detail }: CheckpointState): object => ({ number, state, detail });

export function readCheckpointState(snapshot: DocumentSnapshot): CheckpointState {
  const fields = fieldsOf(snapshot);
  const detail = mapIn(snapshot, fields, 'detail');
  const number = numbersOf(snapshot);
  const state = textIn(snapshot, fields, 'state');
  if (state !== 'completed' && state !== 'committed') throw malformed(snapshot, 'state', 'completed or committed');
  return {
    number: number(fields, 'number'),
    state,
    segments: number(detail, 'segments'),
    envelopes: number(detail, 'envelopes'),
    bytes: number(detail, 'bytes'),
    remainingSegments: number(detail, 'remainingSegments'),
    remainingEnvelopes: number(detail, 'remainingEnvelopes'),
    remainingBytes: number(detail, 'remainingBytes'),
    oldestStagedAt: number(detail, 'oldestStagedAt'),
    completedAt: number(detail, 'completedAt'),
    ...(detail.lastFinishedAt !== undefined && { lastFinishedAt: number(detail, 'lastFinishedAt') }),
    ...(detail.committedAt !== undefined && { committedAt: number(detail, 'committedAt') }),
  };
}

export function versionOf(snapshot: DocumentSnapshot): Version {
  if (snapshot.updateTime === undefined) throw malformed(snapshot, 'its update time', 'there');
  return versionAt(snapshot.updateTime);
}

export const versionAt = ({ seconds, nanoseconds }: VendorTimestamp): Version => `${seconds}.${nanoseconds}`;

/** The precondition "still what it was when it was read". */
export function unchangedSince(
  { Timestamp }: FirestoreClient,
  version: Version,
): { readonly lastUpdateTime: VendorTimestamp } {
  const [seconds, nanoseconds] = version.split('.').map(Number);
  return { lastUpdateTime: new Timestamp(seconds ?? 0, nanoseconds ?? 0) };
}

const fieldsOf = (snapshot: DocumentSnapshot): Fields => snapshot.data() ?? {};

function mapIn(snapshot: DocumentSnapshot, fields: Fields, name: string): Fields {
  const value = fields[name];
  if (typeof value !== 'object' || value === null) throw malformed(snapshot, name, 'a map');
  return value as Fields;
}

const numbersOf =
  (snapshot: DocumentSnapshot) =>
  (fields: Fields, name: string): number => {
    const value = fields[name];
    if (typeof value !== 'number') throw malformed(snapshot, name, 'a number');
    return value;
  };

function textIn(snapshot: DocumentSnapshot, fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string') throw malformed(snapshot, name, 'a text');
  return value;
}

const malformed = (snapshot: DocumentSnapshot, field: string, rule: string): StoreError =>
  new StoreError(
    `read ${snapshot.ref.path}`,
    'DATA_LOSS',
    `${field} must be ${rule}: nothing of this connector wrote that`,
  );
