import type { DocumentSnapshot } from '@google-cloud/firestore';
import {
  type Amount,
  type CheckpointState,
  NO_AMOUNT,
  type PipelineState,
  type RestHead,
  type SegmentHead,
} from '../../staged/state.ts';
import { numberOf } from '../../staged/segment-id.ts';
import { type Fields, fieldsOf, listIn, malformed, mapIn, numbersOf, textIn, textsIn } from './fields.ts';

/**
 * How the state of a staged pipeline is laid out in documents:
 *
 * ```
 * pipelines/{p}                   kind; the fields of Progress, `completed` as lastCheckpoint; clusters {instance: id}
 * pipelines/{p}/segments/{id}     payload; detail {everything else}
 * pipelines/{p}/parts/{id}-{k}    payload; orphanedAfter until the head is there
 * pipelines/{p}/rests/{id}        tryAt; payload; detail {everything else}
 * pipelines/{p}/checkpoints/{n}   number; detail {everything else}; expireAt once committed
 * ```
 *
 * Only the fields that a query names may be indexed: `number` of `checkpoints` and `tryAt` of `rests`, each alone (no
 * composite index); segments are asked for by their ids. A deployment switches the single-field indexes of `payload` and
 * `detail` off for `segments`, `parts`, `rests` and `checkpoints` (the fields of a map follow the map): bytes cost index
 * writes, and an indexed time would put all writes of a collection at one end of one range, 500 a second. Times inside
 * `detail` are integers, milliseconds since the epoch; only `orphanedAfter` and `expireAt` are timestamps, for TTL
 * policies, unindexed too.
 *
 * Segments of the format before this one bear a UUID and the fields `state`, `checkpoint` and `detail.lease` besides; they
 * read as number 0. Its checkpoints have a `state`. The pipeline's document keeps the names of that format, so that
 * functions of both run side by side.
 */

/** The fields of a head: everything but its payload, which a listing must not read. */
export const HEAD_FIELDS = ['detail'];
export const REST_FIELDS = ['tryAt', 'detail'];

/** Digits of a checkpoint's id, so that ids in their order are numbers in theirs. */
const NUMBER_DIGITS = 12;

export const checkpointId = (number: number): string => String(number).padStart(NUMBER_DIGITS, '0');

export const pipelineFields = ({ completed, marks, ...state }: PipelineState): Record<string, unknown> => ({
  kind: 'staged-sink',
  lastCheckpoint: completed,
  ...state,
  marks: marks.map(({ number, at }) => ({ number, at })),
});

export function readPipelineState(snapshot: DocumentSnapshot): PipelineState {
  const fields = fieldsOf(snapshot);
  const lease = mapIn(snapshot, fields, 'lease');
  const number = numbersOf(snapshot);
  return {
    lease: {
      owner: textIn(snapshot, lease, 'owner'),
      epoch: number(lease, 'epoch'),
      expiresAt: number(lease, 'expiresAt'),
    },
    completed: number(fields, 'lastCheckpoint'),
    lastCompletedAt: number(fields, 'lastCompletedAt'),
    ...(fields.committed !== undefined && { committed: number(fields, 'committed') }),
    ...(fields.lookFrom !== undefined && { lookFrom: number(fields, 'lookFrom') }),
    backlog: readAmount(snapshot, fields, 'backlog'),
    rests: fields.rests === undefined ? NO_AMOUNT : readAmount(snapshot, fields, 'rests'),
    countedAt: number(fields, 'countedAt'),
    ...(fields.fingerprint !== undefined && {
      fingerprint: textsIn(snapshot, mapIn(snapshot, fields, 'fingerprint')),
    }),
    marks: listIn(snapshot, fields, 'marks').map((mark) => ({
      number: number(mark, 'number'),
      at: number(mark, 'at'),
    })),
  };
}

/** By instance, the cluster that the pipeline's markers are in. Committers write them, and no coordinator does. */
export function readClusters(snapshot: DocumentSnapshot): Readonly<Record<string, string>> {
  const fields = fieldsOf(snapshot);
  return fields.clusters === undefined ? {} : textsIn(snapshot, mapIn(snapshot, fields, 'clusters'));
}

function readAmount(snapshot: DocumentSnapshot, fields: Fields, name: string): Amount {
  const map = mapIn(snapshot, fields, name);
  const number = numbersOf(snapshot);
  return { segments: number(map, 'segments'), envelopes: number(map, 'envelopes'), bytes: number(map, 'bytes') };
}

/** A new segment's document, but for its payload. */
export const stagedFields = ({
  envelopes,
  bytes,
  parts,
  stagedAt,
}: Pick<SegmentHead, 'envelopes' | 'bytes' | 'parts' | 'stagedAt'>): object => ({
  detail: { envelopes, bytes, parts, stagedAt },
});

export function readSegmentHead(snapshot: DocumentSnapshot): SegmentHead {
  const detail = mapIn(snapshot, fieldsOf(snapshot), 'detail');
  const number = numbersOf(snapshot);
  return {
    id: snapshot.id,
    number: numberOf(snapshot.id),
    envelopes: number(detail, 'envelopes'),
    bytes: number(detail, 'bytes'),
    parts: number(detail, 'parts'),
    stagedAt: number(detail, 'stagedAt'),
    createdAt: snapshot.createTime?.toMillis() ?? 0,
  };
}

/** A rest's document, but for its payload. */
export const restFields = ({ tryAt, problem, attempts, envelopes, bytes, parts, stagedAt }: RestHead): object => ({
  tryAt,
  detail: { problem, attempts, envelopes, bytes, parts, stagedAt },
});

export function readRestHead(snapshot: DocumentSnapshot): RestHead {
  const fields = fieldsOf(snapshot);
  const detail = mapIn(snapshot, fields, 'detail');
  const number = numbersOf(snapshot);
  return {
    id: snapshot.id,
    tryAt: number(fields, 'tryAt'),
    problem: textIn(snapshot, detail, 'problem'),
    attempts: number(detail, 'attempts'),
    envelopes: number(detail, 'envelopes'),
    bytes: number(detail, 'bytes'),
    parts: number(detail, 'parts'),
    stagedAt: number(detail, 'stagedAt'),
  };
}

export function readPayload(snapshot: DocumentSnapshot): Buffer {
  const payload = fieldsOf(snapshot).payload;
  if (payload instanceof Uint8Array) return Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  throw malformed(snapshot, 'payload', 'bytes');
}

export const checkpointFields = ({ number, completedAt, amount, oldestStagedAt }: CheckpointState): object => ({
  number,
  detail: { completedAt, ...amount, oldestStagedAt },
});

export function readCheckpointState(snapshot: DocumentSnapshot): CheckpointState {
  const fields = fieldsOf(snapshot);
  const detail = mapIn(snapshot, fields, 'detail');
  // A mark may have made the document of a checkpoint that was deleted by then.
  const number = (name: string): number => (detail[name] === undefined ? 0 : numbersOf(snapshot)(detail, name));
  return {
    number: numbersOf(snapshot)(fields, 'number'),
    completedAt: number('completedAt'),
    ...(detail.sentAt !== undefined && { sentAt: number('sentAt') }),
    ...(detail.committedAt !== undefined && { committedAt: number('committedAt') }),
    amount: { segments: number('segments'), envelopes: number('envelopes'), bytes: number('bytes') },
    oldestStagedAt: number('oldestStagedAt'),
  };
}
