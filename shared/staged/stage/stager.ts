import { toError } from '../../base/errors.ts';
import { describeError } from '../../base/logging.ts';
import { Delivery, refusedByStore } from './delivery.ts';
import type { Envelope } from '../envelope/envelope.ts';
import { SegmentPacker } from '../envelope/pack.ts';
import { MAX_SEGMENT_BYTES, MAX_SEGMENTS_PER_COMMIT, type NewSegment } from '../ports.ts';
import { encodeSegment } from '../envelope/segment.ts';
import { storeSegments, type Storing } from './store-segments.ts';

export interface StagerDependencies extends Storing {
  /** A new id at every call, random, so that writes spread over the store. */
  readonly newSegmentId: () => string;
}

/** An envelope and the message that waits for it. */
interface StagedItem {
  readonly envelope: Envelope;
  readonly delivery: Delivery;
}

/** Commits in flight below which nothing waits for company. */
export const MAX_CONCURRENT_COMMITS = 4;

/** More than those only for commits that are full, and never more than this. */
export const MAX_COMMITS = 2 * MAX_CONCURRENT_COMMITS;

/**
 * Group commit of envelopes for one instance: those of all concurrent invocations, in as few segments and commits as
 * their arrival allows. While few commits are in flight, what waits goes out at once; otherwise it gathers until one
 * returns or fills a commit.
 *
 * What must stay true: an envelope that somebody waits for is in exactly one segment, and that segment has one id for
 * all its attempts; every message is told exactly once, and told `stored` only when all of its envelopes are; nothing is
 * thrown from a callback.
 */
export class Stager {
  readonly #with: StagerDependencies;
  readonly #packer: SegmentPacker<StagedItem>;
  #commits = 0;
  #isPumpDue = false;

  /** @param maxSegmentBytes of a payload, but for one that holds a single larger envelope. */
  constructor(dependencies: StagerDependencies, maxSegmentBytes = MAX_SEGMENT_BYTES) {
    this.#with = dependencies;
    this.#packer = new SegmentPacker(maxSegmentBytes);
  }

  /**
   * Resolves when all of a message's envelopes are stored. Rejects with a `RedeliverError` when the store refuses them,
   * or as soon as `signal` aborts; they may be stored even so, which their identities make harmless.
   */
  async stage(envelopes: readonly Envelope[], signal: AbortSignal): Promise<void> {
    if (envelopes.length === 0) return;
    const { clock, metrics } = this.#with.runtime;
    const startedAt = clock.now();
    const delivery = new Delivery(envelopes.length, signal);
    if (delivery.isWanted) {
      for (const envelope of envelopes) this.#packer.add({ envelope, delivery });
      this.#pumpSoon();
    }
    await delivery.done;
    metrics.record('stagingLatency', clock.now() - startedAt);
  }

  /** What arrives together goes out together. */
  #pumpSoon(): void {
    if (this.#isPumpDue) return;
    this.#isPumpDue = true;
    this.#with.runtime.clock.soon(() => {
      this.#isPumpDue = false;
      this.#pump();
    });
  }

  #pump(): void {
    while (!this.#packer.isEmpty && this.#mayCommit()) {
      const wanted = this.#packer
        .take(MAX_SEGMENTS_PER_COMMIT)
        .map((items) => items.filter(({ delivery }) => delivery.isWanted))
        .filter((items) => items.length > 0);
      if (wanted.length > 0) this.#start(wanted);
    }
  }

  #mayCommit(): boolean {
    const isFull = this.#packer.sealedSegments >= MAX_SEGMENTS_PER_COMMIT;
    return this.#commits < (isFull ? MAX_COMMITS : MAX_CONCURRENT_COMMITS);
  }

  /** Nobody waits for this promise, so nothing may reject: every path tells every message. */
  #start(groups: readonly (readonly StagedItem[])[]): void {
    this.#commits += 1;
    this.#commit(groups)
      .catch((error: unknown) => {
        this.#with.runtime.logger.log('ERROR', 'segments could not be stored', { error: describeError(error) });
        for (const { delivery } of groups.flat()) delivery.fail(refusedByStore(toError(error)));
      })
      .finally(() => {
        this.#commits -= 1;
        this.#pumpSoon();
      });
  }

  async #commit(groups: readonly (readonly StagedItem[])[]): Promise<void> {
    const { runtime, newSegmentId } = this.#with;
    const { clock, metrics } = runtime;
    const stagedAt = clock.now();
    const segments = groups.map((items): NewSegment => ({
      id: newSegmentId(),
      envelopes: items.length,
      payload: encodeSegment(items.map(({ envelope }) => envelope)),
      stagedAt,
    }));
    const items = groups.flat();
    const waiting = audienceOf(items);
    await storeSegments(segments, this.#with, waiting.signal, (error) => {
      for (const delivery of waiting.deliveries) delivery.trouble = error;
    });
    metrics.count('segmentsStaged', segments.length);
    metrics.count('envelopesStaged', items.length);
    for (const { delivery } of items) delivery.stored();
  }
}

/** The messages that wait for a commit, and a signal that aborts when none does any more. */
function audienceOf(items: readonly StagedItem[]): {
  readonly deliveries: ReadonlySet<Delivery>;
  readonly signal: AbortSignal;
} {
  const deliveries = new Set(items.map(({ delivery }) => delivery));
  const gone = new AbortController();
  for (const delivery of [...deliveries]) {
    delivery.onSettled(() => {
      deliveries.delete(delivery);
      if (deliveries.size === 0) gone.abort(new Error('every message that waited for this commit has ended'));
    });
  }
  return { deliveries, signal: gone.signal };
}
