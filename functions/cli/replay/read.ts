import type { Clock } from '../../../shared/base/clock.ts';
import { toError } from '../../../shared/base/errors.ts';
import { isScanLetter } from '../../../shared/letters/attributes.ts';
import type { Ending } from '../interruption.ts';
import type { PulledMessage, Puller } from '../ports.ts';
import { filedBy, isWanted, type LetterFilter } from './letters.ts';

/**
 * Pulls letters until the subscription stays empty, enough were found, or too many are held. A message that is pulled and
 * not done with is held to the end, because one that is given back at once would be pulled again at once; then it is
 * given back, whatever ended the reading.
 */

/** Messages held at most; each costs its two ids alone. */
export const MAX_HELD = 10_000;

const MAX_PER_PULL = 100;

export interface ReadOptions {
  readonly filter: LetterFilter;
  /** The pipelines of the configuration. */
  readonly known: readonly string[];
  /** Letters to take at most. */
  readonly max: number;
  /** The subscription counts as empty when nothing came for this long. */
  readonly idleMillis: number;
  /** And when nothing at all was seen for this long: what another run has held until now is visible by then. */
  readonly firstIdleMillis: number;
  /** Messages in one pull, at most 100. */
  readonly perPull?: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly ending: Ending;
  /** Tells that nothing is visible yet, and that it is looked for further. */
  readonly onNothingYet: () => void;
  readonly take: (letters: readonly PulledMessage[]) => Promise<Taken>;
}

export interface Taken {
  /** Ids of the messages that are done with and may be acknowledged. The others are held. */
  readonly done: ReadonlySet<string>;
  /** There is no point in going on. */
  readonly isHopeless?: boolean;
}

export interface ReadOutcome {
  readonly taken: number;
  /** Messages of other pipelines, or that the conditions leave out. */
  readonly skipped: number;
  /** Of those, letters of pipelines that the configuration lacks, by the names of the first few. */
  readonly strangers: ReadonlyMap<string, number>;
  /** Of those, letters of scans, which no replay takes back. */
  readonly ofScans: number;
  readonly ended: 'empty' | 'max' | 'held' | 'hopeless' | 'interrupted' | 'failed';
  /** What ended it. */
  readonly failure?: Error;
  /** Done with, but not acknowledged: they are delivered once more. */
  readonly unacknowledged: number;
  /** Not given back: they are invisible until their leases end. */
  readonly unreturned: number;
  /** Why some are unacknowledged or unreturned. */
  readonly leaseFailure?: Error;
}

/** Never rejects: a failure is part of the outcome, beside what was done until then. */
export async function readLetters(puller: Puller, options: ReadOptions): Promise<ReadOutcome> {
  const { ending } = options;
  const reading = new Reading(puller, options);
  const { ended, failure } = await reading.run().catch((error: unknown): Ended => {
    if (options.signal.aborted) return { ended: 'interrupted' };
    return { ended: 'failed', failure: toError(error) };
  });
  const { counts, held } = reading;
  const ids = [...held.values()];
  const problem = ids.length > 0 ? await failureOf(puller.release(ids, ending.givingBack)) : undefined;
  const leaseFailure = reading.leaseFailure ?? problem;
  return {
    ...counts,
    strangers: reading.strangers,
    ended,
    ...(failure && { failure }),
    unreturned: problem ? ids.length : 0,
    ...(leaseFailure && { leaseFailure }),
  };
}

type Ended = Pick<ReadOutcome, 'ended' | 'failure'>;

class Reading {
  readonly counts = { taken: 0, skipped: 0, ofScans: 0, unacknowledged: 0 };
  readonly strangers = new Map<string, number>();
  /** Message id → newest ack id. */
  readonly held = new Map<string, string>();
  leaseFailure: Error | undefined;
  readonly #puller: Puller;
  readonly #options: ReadOptions;

  constructor(puller: Puller, options: ReadOptions) {
    this.#puller = puller;
    this.#options = options;
  }

  async run(): Promise<Ended> {
    const { max, filter } = this.#options;
    for (;;) {
      if (this.#isToldToEnd()) return { ended: 'interrupted' };
      if (this.counts.taken >= max) return { ended: 'max' };
      if (this.held.size >= MAX_HELD) return { ended: 'held' };
      const fresh = await this.#pullFresh();
      if (this.#isToldToEnd()) return { ended: 'interrupted' };
      if (fresh.length === 0) return { ended: 'empty' };
      const letters = fresh.filter((letter) => isWanted(letter, filter));
      this.counts.taken += letters.length;
      this.counts.skipped += fresh.length - letters.length;
      const sinks = fresh.filter(({ attributes }) => !isScanLetter(attributes));
      this.counts.ofScans += fresh.length - sinks.length;
      countStrangers(sinks, this.#options, this.strangers);
      if (letters.length === 0) continue;
      const { done, isHopeless } = await this.#options.take(letters);
      await this.#acknowledge(done);
      if (isHopeless && !this.#isToldToEnd()) return { ended: 'hopeless' };
    }
  }

  #isToldToEnd(): boolean {
    return this.#options.signal.aborted;
  }

  /** Messages that were not seen before; none where none came for as long as the options say. */
  async #pullFresh(): Promise<readonly PulledMessage[]> {
    const { perPull = MAX_PER_PULL, max, idleMillis, firstIdleMillis, clock, signal, onNothingYet } = this.#options;
    const room = Math.min(perPull, MAX_PER_PULL, max - this.counts.taken, MAX_HELD - this.held.size);
    const isFirst = this.counts.taken + this.counts.skipped === 0;
    const waits = isFirst && firstIdleMillis > idleMillis ? [idleMillis, firstIdleMillis - idleMillis] : [idleMillis];
    for (const [index, wait] of waits.entries()) {
      if (index > 0) onNothingYet();
      const end = clock.now() + wait;
      for (let left = wait; left > 0; left = end - clock.now()) {
        const pulled = await this.#puller.pull(room, left, signal);
        // A lease that ran out brings a message again under a new ack id: the newest id counts.
        const fresh = pulled.filter(({ messageId }) => !this.held.has(messageId));
        for (const { messageId, ackId } of pulled) this.held.set(messageId, ackId);
        if (fresh.length > 0 || signal.aborted) return fresh;
        if (pulled.length === 0) break;
      }
    }
    return [];
  }

  async #acknowledge(done: ReadonlySet<string>): Promise<void> {
    const ackIds = [...done].flatMap((messageId) => this.held.get(messageId) ?? []);
    if (ackIds.length === 0) return;
    for (const messageId of done) this.held.delete(messageId);
    const failure = await failureOf(this.#puller.acknowledge(ackIds, this.#options.ending.givingBack));
    if (!failure) return;
    this.counts.unacknowledged += ackIds.length;
    this.leaseFailure ??= failure;
    // Every further letter would be published, and delivered once more.
    throw failure;
  }
}

const failureOf = (promise: Promise<void>): Promise<Error | undefined> => promise.then(() => undefined, toError);

const MAX_STRANGERS = 20;

function countStrangers(
  letters: readonly PulledMessage[],
  { known, filter }: Pick<ReadOptions, 'known' | 'filter'>,
  strangers: Map<string, number>,
): void {
  for (const letter of letters) {
    const pipeline = filedBy(letter);
    if (pipeline === undefined || known.includes(pipeline) || filter.pipelines.includes(pipeline)) continue;
    const count = strangers.get(pipeline);
    if (count !== undefined || strangers.size < MAX_STRANGERS) strangers.set(pipeline, (count ?? 0) + 1);
  }
}
