import type { Led } from '../coordinator/ports.ts';
import type { Fingerprint } from './fingerprint.ts';

/**
 * What is durable of a staged pipeline. Plain values; times are milliseconds since the epoch.
 *
 * ```
 * pipelines/{p}                   PipelineState
 * pipelines/{p}/checkpoints/{n}   CheckpointState
 * pipelines/{p}/segments/{id}     SegmentHead and its payload; see segment-id.ts for what an id says
 * pipelines/{p}/rests/{id}        RestHead and the envelopes of a segment that could not be finished
 * pipelines/{p}/parts/{id}-{k}    the rest of a payload that one document cannot hold
 * ```
 */

/** How much there is of something, counted or reckoned from a count and a sample. */
export interface Amount {
  readonly segments: number;
  readonly envelopes: number;
  /** Of the payloads. */
  readonly bytes: number;
}

/** What an entry weighs beside its request, in bytes, wherever it is held against the caps. */
export const BYTES_PER_ENTRY = 256;

export const NO_AMOUNT: Amount = { segments: 0, envelopes: 0, bytes: 0 };

export const amountOf = (heads: readonly Pick<SegmentHead, 'envelopes' | 'bytes'>[]): Amount => ({
  segments: heads.length,
  envelopes: heads.reduce((sum, { envelopes }) => sum + envelopes, 0),
  bytes: heads.reduce((sum, { bytes }) => sum + bytes, 0),
});

/** So many segments, each as heavy as the sample's on average; as heavy as one is at most where there is no sample. */
export function scaled(sample: Amount, segments: number): Amount {
  if (sample.segments === 0) return { ...NO_AMOUNT, segments };
  const factor = segments / sample.segments;
  return { segments, envelopes: Math.round(sample.envelopes * factor), bytes: Math.round(sample.bytes * factor) };
}

export const sumOf = (amounts: readonly Amount[]): Amount =>
  amounts.reduce(
    (sum, { segments, envelopes, bytes }) => ({
      segments: sum.segments + segments,
      envelopes: sum.envelopes + envelopes,
      bytes: sum.bytes + bytes,
    }),
    NO_AMOUNT,
  );

/** How far a pipeline was at a time. */
export interface Mark {
  readonly number: number;
  readonly at: number;
}

/** How far a pipeline is, by its coordinator's last decision. Only a coordinator writes it, fenced by its lease. */
export interface Progress {
  /**
   * Number of the last completed checkpoint; 0 before the first. Never falls. A segment may be written from the time at
   * which this is its number or more.
   */
  readonly completed: number;
  readonly lastCompletedAt: number;
  /**
   * What was acknowledged before this checkpoint was completed is in its row, or set apart. Never falls, never above
   * `completed`. Absent until a coordinator of this format has looked.
   */
  readonly committed?: number;
  /** What is staged, rests left out, as of the last tick. */
  readonly backlog: Amount;
  /** What is set apart, as of the last tick. */
  readonly rests: Amount;
  readonly countedAt: number;
  /**
   * The lowest number of which the last look found something, else the one after `completed`: the next look begins no
   * higher, or what came late below `committed` would be out of sight before it is drained. Absent as `committed` is.
   */
  readonly lookFrom?: number;
  /** `completed`, about once a minute over the last quarter of an hour, the oldest first. */
  readonly marks: readonly Mark[];
  /** What identities and markers hang on; absent until a coordinator of this format has run. */
  readonly fingerprint?: Fingerprint;
}

export type PipelineState = Led<Progress>;

/** A segment without its payload. */
export interface SegmentHead {
  readonly id: string;
  /** Of the checkpoint that owns it; 0 in the format before this one. */
  readonly number: number;
  readonly envelopes: number;
  /** Of the payload. */
  readonly bytes: number;
  /** Documents that hold the rest of the payload; 0 for nearly all. */
  readonly parts: number;
  /** By the clock of its stager. */
  readonly stagedAt: number;
  /** By the clock of the store. */
  readonly createdAt: number;
}

/** A checkpoint's completion authorizes the commits of its segments, row by row. Only a coordinator writes it. */
export interface CheckpointState {
  readonly number: number;
  readonly completedAt: number;
  /** Until then, by the clock of the store, everything of this number has been sent to committers. */
  readonly sentAt?: number;
  readonly committedAt?: number;
  /** About: a count, and a sample of what one weighs. */
  readonly amount: Amount;
  /** When the oldest of the sample was staged. */
  readonly oldestStagedAt: number;
}

/** What could not be finished of a segment, without its envelopes: set apart, so that nothing waits behind it. */
export interface RestHead {
  /** That of its segment. */
  readonly id: string;
  /** For people: what was refused and what to do. Names no row key and no value. */
  readonly problem: string;
  /** Times that it was tried after it was set apart. */
  readonly attempts: number;
  /** When it is tried next. */
  readonly tryAt: number;
  readonly envelopes: number;
  readonly bytes: number;
  readonly parts: number;
  readonly stagedAt: number;
}

/** What a tick changes beside the pipeline's document, all in one commit. */
export interface CheckpointChanges {
  /** A checkpoint that is complete with this commit. */
  readonly complete?: CheckpointState;
  /** Checkpoints of which nothing is left. */
  readonly committed: readonly { readonly number: number; readonly committedAt: number }[];
}
