import { CLOCK_SKEW_MILLIS } from '../../model/lease.ts';
import type { Envelope } from '../envelope/envelope.ts';
import { type Amount, BYTES_PER_ENTRY, type PipelineState } from '../state.ts';

/**
 * The backlog as far as one stager knows it: the coordinator's last count, and the segments that this instance staged since. Other
 * instances stage too, so a cap is kept to about one interval of their work. State without a clock: times are given.
 */

export interface StagingCaps {
  readonly maxStagedEntries: number;
  /** Of requests, and 256 for each. */
  readonly maxStagedBytes: number;
}

/** Entries and their weight: the bytes of their requests, and 256 for each. */
export interface Weight {
  readonly entries: number;
  readonly bytes: number;
}

export const weightOf = (envelopes: readonly Pick<Envelope, 'request'>[]): Weight => ({
  entries: envelopes.length,
  bytes: envelopes.reduce((sum, { request }) => sum + request.length + BYTES_PER_ENTRY, 0),
});

const NOTHING: Weight = { entries: 0, bytes: 0 };

const plus = (left: Weight, right: Weight): Weight => ({
  entries: left.entries + right.entries,
  bytes: left.bytes + right.bytes,
});

const minus = (left: Weight, right: Weight): Weight => ({
  entries: left.entries - right.entries,
  bytes: left.bytes - right.bytes,
});

/** Staged work is remembered by the second, so that a long silence of the coordinator costs little memory. */
const BUCKET_MILLIS = 1000;

export class BacklogView {
  /** By the coordinator. */
  #counted = NOTHING;
  #rests = NOTHING;
  /** By this instance: under way, or too young to be in the count for certain. */
  #own = NOTHING;
  /** Of those, what is stored, by the end of the second in which it was. */
  readonly #stored = new Map<number, Weight>();

  get total(): Weight {
    return plus(this.#counted, this.#own);
  }

  /** Set apart, by the coordinator. */
  get rests(): Weight {
    return this.#rests;
  }

  /** Takes over a count; forgets what it holds. */
  counted({ backlog, rests, countedAt }: Pick<PipelineState, 'backlog' | 'rests' | 'countedAt'>): void {
    this.#counted = weightOfAmount(backlog);
    this.#rests = weightOfAmount(rests);
    for (const [second, weight] of this.#stored) {
      // The count began before its time was taken, perhaps by a clock that is ahead.
      if (second + CLOCK_SKEW_MILLIS >= countedAt) continue;
      this.#stored.delete(second);
      this.#own = minus(this.#own, weight);
    }
  }

  begin(weight: Weight): void {
    this.#own = plus(this.#own, weight);
  }

  /** What was begun is stored, or may be: the next count tells. */
  stored(weight: Weight, now: number): void {
    const second = Math.ceil(now / BUCKET_MILLIS) * BUCKET_MILLIS;
    this.#stored.set(second, plus(this.#stored.get(second) ?? NOTHING, weight));
  }

  /** What was begun is not stored, for certain. */
  refused(weight: Weight): void {
    this.#own = minus(this.#own, weight);
  }
}

const weightOfAmount = ({ envelopes, bytes }: Amount): Weight => ({
  entries: envelopes,
  bytes: bytes + envelopes * BYTES_PER_ENTRY,
});

/** Why nothing more may be staged, or undefined. Below the caps anything may, whatever its own size. Pure. */
export function refusalOf(
  { total, rests }: Pick<BacklogView, 'total' | 'rests'>,
  caps: StagingCaps,
): string | undefined {
  const { maxStagedEntries, maxStagedBytes } = caps;
  const isBelow = ({ entries, bytes }: Weight): boolean => entries < maxStagedEntries && bytes < maxStagedBytes;
  const bounds = `at most ${maxStagedEntries} (maxStagedEntries)`;
  const sizes = `at most ${maxStagedBytes} (maxStagedBytes)`;
  if (!isBelow(total)) {
    return `the backlog holds ${total.entries} entries of ${bounds} and ${total.bytes} bytes of ${sizes}; the message is redelivered, and some of the backlog should be committed by then. If that lasts, find out why commitStaged is slow, or raise the caps`;
  }
  if (isBelow(rests)) return undefined;
  return `${rests.entries} entries of ${bounds} and ${rests.bytes} bytes of ${sizes} are set apart because they were refused; the message is redelivered. See connector status for what refuses them, and fix that, or raise the caps`;
}
