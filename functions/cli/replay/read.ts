import type { PulledMessage, Puller } from '../ports.ts';
import { filedBy, isWanted, type LetterFilter } from './letters.ts';

/**
 * Pulls letters until the subscription stays empty, enough were found, or too many are held. What is pulled and not
 * done with is held to the end, because a message given back at once would be pulled again at once.
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
  /** Messages in one pull, at most 100. */
  readonly perPull?: number;
  readonly signal: AbortSignal;
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
  readonly ended: 'empty' | 'max' | 'held' | 'hopeless' | 'interrupted';
}

export async function readLetters(puller: Puller, options: ReadOptions): Promise<ReadOutcome> {
  const held = new Map<string, string>();
  let taken = 0;
  let skipped = 0;
  const strangers = new Map<string, number>();
  const outcome = (ended: ReadOutcome['ended']): ReadOutcome => ({ taken, skipped, strangers, ended });
  try {
    for (;;) {
      if (options.signal.aborted) return outcome('interrupted');
      if (taken >= options.max) return outcome('max');
      if (held.size >= MAX_HELD) return outcome('held');
      const room = Math.min(options.perPull ?? MAX_PER_PULL, MAX_PER_PULL, options.max - taken, MAX_HELD - held.size);
      const pulled = await puller.pull(room, options.idleMillis);
      // A lease that ran out brings a message again under a new ack id: all was seen, and the newest id counts.
      const fresh = pulled.filter(({ messageId }) => !held.has(messageId));
      for (const { messageId, ackId } of pulled) held.set(messageId, ackId);
      if (fresh.length === 0) return outcome('empty');
      const letters = fresh.filter((letter) => isWanted(letter, options.filter));
      taken += letters.length;
      skipped += fresh.length - letters.length;
      countStrangers(fresh, options, strangers);
      if (letters.length === 0) continue;
      const { done, isHopeless } = await options.take(letters);
      const ackIds = letters.flatMap(({ messageId, ackId }) => (done.has(messageId) ? [ackId] : []));
      if (ackIds.length > 0) await puller.acknowledge(ackIds);
      for (const messageId of done) held.delete(messageId);
      if (isHopeless) return outcome('hopeless');
    }
  } finally {
    await puller.release([...held.values()]);
  }
}

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
