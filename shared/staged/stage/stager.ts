import { toError } from '../../base/errors.ts';
import { describeError } from '../../base/logging.ts';
import type { Runtime } from '../../base/runtime.ts';
import { Delivery, refusedByStore } from './delivery.ts';
import type { Envelope } from '../envelope/envelope.ts';
import { SegmentPacker } from '../envelope/pack.ts';
import { MAX_SEGMENT_BYTES, MAX_SEGMENTS_PER_COMMIT, type NewSegment } from '../ports.ts';
import { encodeSegment } from '../envelope/segment.ts';
import { LANES, segmentId } from '../segment-id.ts';
import type { PipelineWatch } from './pipeline-watch.ts';
import { persistently, storeSegments, type Storing } from './store-segments.ts';

export interface StagerDependencies extends Storing {
  readonly runtime: Runtime;
  /** Says the number of the checkpoint that owns what is staged now. */
  readonly numbers: Pick<PipelineWatch, 'numberToStage'>;
  /** 16 hexadecimal digits, random at every call. */
  readonly newRandomId: () => string;
}

export interface StagerOptions {
  /** How long a message may wait for company. */
  readonly lingerMillis: number;
  /** Messages that are company enough: with so many what waits leaves at once. */
  readonly maxWaitingMessages: number;
  /** Of a payload, but for one that holds a single larger envelope. Default: what fits in a document. */
  readonly maxSegmentBytes?: number;
}

/** An envelope and the message that waits for it. */
interface StagedItem {
  readonly envelope: Envelope;
  readonly delivery: Delivery;
}

/**
 * A hundredth of the interval, at most 100 ms: by then the open push of a lone message has cost more than its segment, and
 * an answer above a second would keep the push window small.
 */
export const defaultLingerMillis = (checkpointIntervalMillis: number): number =>
  Math.min(100, checkpointIntervalMillis / 100);

/** Commits in flight of what may still grow, and of what is full. */
export const MAX_CONCURRENT_COMMITS = 4;
export const MAX_COMMITS = 2 * MAX_CONCURRENT_COMMITS;

/**
 * Group commit of envelopes for one instance: those of all concurrent invocations, in as few segments and commits as
 * their arrival allows. What waits leaves when a segment is full, when enough messages wait, or when the first of them
 * has waited long enough; and then as soon as a commit may begin.
 *
 * What must stay true: an envelope that somebody waits for is in exactly one segment, and that segment has one id for
 * all its attempts; every message is told exactly once, and told `stored` only when all of its envelopes are; nothing is
 * thrown from a callback.
 */
export class Stager {
  readonly #options: StagerOptions;
  readonly #with: StagerDependencies;
  readonly #packer: SegmentPacker<StagedItem>;
  #commits = 0;
  #isPumpDue = false;
  /** Messages that came since what waits left last. */
  #waiting = 0;
  /** What waits has waited long enough. */
  #isDue = false;
  #cancelLinger: (() => void) | undefined;
  #isDraining = false;

  constructor(options: StagerOptions, dependencies: StagerDependencies) {
    this.#options = options;
    this.#with = dependencies;
    this.#packer = new SegmentPacker(options.maxSegmentBytes ?? MAX_SEGMENT_BYTES);
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
      this.#waiting += 1;
      this.#gather();
    }
    await delivery.done;
    metrics.record('stagingLatency', clock.now() - startedAt);
  }

  /** The instance ends: nothing waits for company any longer. */
  drain(): void {
    this.#isDraining = true;
    this.#leave();
  }

  #gather(): void {
    const { lingerMillis, maxWaitingMessages } = this.#options;
    const isEnough = this.#isDue || this.#isDraining || this.#waiting >= maxWaitingMessages;
    if (isEnough || lingerMillis <= 0) this.#leave();
    else if (this.#packer.sealedSegments > 0) this.#pumpSoon();
    if (this.#isDue || this.#cancelLinger) return;
    this.#cancelLinger = this.#with.runtime.clock.after(lingerMillis, () => {
      this.#leave();
    });
  }

  #leave(): void {
    this.#isDue = true;
    this.#cancelLinger?.();
    this.#cancelLinger = undefined;
    this.#pumpSoon();
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
    while (this.#mayCommit()) {
      const segments = this.#isDue
        ? MAX_SEGMENTS_PER_COMMIT
        : Math.min(this.#packer.sealedSegments, MAX_SEGMENTS_PER_COMMIT);
      const wanted = this.#packer
        .take(segments)
        .map((items) => items.filter(({ delivery }) => delivery.isWanted))
        .filter((items) => items.length > 0);
      if (wanted.length > 0) this.#start(wanted);
    }
    if (!this.#packer.isEmpty) return;
    this.#isDue = false;
    this.#waiting = 0;
    this.#cancelLinger?.();
    this.#cancelLinger = undefined;
  }

  #mayCommit(): boolean {
    if (this.#packer.isEmpty) return false;
    const { sealedSegments } = this.#packer;
    if (sealedSegments >= MAX_SEGMENTS_PER_COMMIT) return this.#commits < MAX_COMMITS;
    return (this.#isDue || sealedSegments > 0) && this.#commits < MAX_CONCURRENT_COMMITS;
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
    const { runtime, numbers, newRandomId } = this.#with;
    const { clock, random, metrics } = runtime;
    const items = groups.flat();
    const waiting = audienceOf(items);
    const onTrouble = (error: Error): void => {
      for (const delivery of waiting.deliveries) delivery.trouble = error;
    };
    const number = await persistently(
      () => numbers.numberToStage(waiting.signal),
      this.#with,
      waiting.signal,
      onTrouble,
    );
    const stagedAt = clock.now();
    const segments = groups.map((group): NewSegment => ({
      id: segmentId(Math.floor(random() * LANES), number, newRandomId()),
      envelopes: group.length,
      payload: encodeSegment(group.map(({ envelope }) => envelope)),
      stagedAt,
    }));
    await storeSegments(segments, this.#with, waiting.signal, onTrouble);
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
