import { RedeliverError } from '../../base/errors.ts';
import { describeError } from '../../base/logging.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { PipelineState } from '../state.ts';
import type { StagingStore } from '../ports.ts';
import { BacklogView, refusalOf, type StagingCaps, type Weight } from './backlog-view.ts';
import type { PipelineWatch } from './pipeline-watch.ts';

export interface BackpressureDependencies {
  readonly store: Pick<StagingStore, 'countBacklog'>;
  readonly watch: Pick<PipelineWatch, 'state' | 'readAt' | 'refreshIfDue'>;
  readonly runtime: Pick<Runtime, 'clock' | 'metrics' | 'logger'>;
}

/** A count of the coordinator's that is older is not relied on: the instance counts for itself. */
const STALE_MILLIS = 30_000;

/** It does so at most this often, beside the messages and never in their way. */
const OWN_COUNT_MILLIS = 10_000;
const COUNT_TIMEOUT_MILLIS = 10_000;

/** Without a count for so long nobody ticks. Said at most once a minute. */
const SILENCE_MILLIS = 300_000;
const WARNING_MILLIS = 60_000;

/**
 * Turns messages away while the backlog is at its caps, so that Pub/Sub holds what the committers cannot keep up with; or
 * while what is set apart is at its own. Goes by the last count that could be read: a message never waits for one.
 */
export class Backpressure {
  readonly #caps: StagingCaps;
  readonly #with: BackpressureDependencies;
  readonly #view = new BacklogView();
  #isCounting = false;
  /** When the last own count began. */
  #ownCountAt = -Infinity;
  /** Of the last count that was taken over, whoever made it; before the first, when this instance began to look. */
  #countedAt: number | undefined;
  /** When this instance began to look. */
  #beganAt: number | undefined;
  /** The read of the pipeline that was taken over last. */
  #takenAt = -Infinity;
  #warnedAt = -Infinity;

  constructor(caps: StagingCaps, dependencies: BackpressureDependencies) {
    this.#caps = caps;
    this.#with = dependencies;
    const { metrics } = dependencies.runtime;
    metrics.observe('stagedEntries', () => this.#view.total.entries);
    metrics.observe('stagedBytes', () => this.#view.total.bytes);
  }

  /** Throws a `RedeliverError` when a message has to wait outside. */
  admit(): void {
    this.#look();
    const refusal = refusalOf(this.#view, this.#caps);
    if (refusal === undefined) return;
    this.#with.runtime.metrics.count('backlogRefusals');
    throw new RedeliverError('backlog', refusal);
  }

  /** Counts what is staged meanwhile. What was given up may be stored even so; what the store refused is not. */
  async during(weight: Weight, staging: () => Promise<void>): Promise<void> {
    this.#view.begin(weight);
    try {
      await staging();
    } catch (error) {
      if (error instanceof RedeliverError && error.reason === 'staging') this.#view.refused(weight);
      else this.#view.stored(weight, this.#with.runtime.clock.now());
      throw error;
    }
    this.#view.stored(weight, this.#with.runtime.clock.now());
  }

  /** Takes over what was read, and sees to it that the next is. */
  #look(): void {
    const { watch, runtime } = this.#with;
    watch.refreshIfDue();
    const { state, readAt } = watch;
    if (readAt > this.#takenAt) {
      this.#takenAt = readAt;
      if (state && state.countedAt >= (this.#countedAt ?? 0)) this.#take(state);
    }
    const now = runtime.clock.now();
    this.#beganAt ??= now;
    this.#countedAt ??= now;
    this.#warnOfSilence(now - (state?.countedAt ?? this.#beganAt), now);
    const isStale = readAt > -Infinity && now - this.#countedAt >= STALE_MILLIS;
    if (isStale && !this.#isCounting && now - this.#ownCountAt >= OWN_COUNT_MILLIS) this.#countSoon(now);
  }

  #take(counted: Pick<PipelineState, 'backlog' | 'rests' | 'countedAt'>): void {
    this.#view.counted(counted);
    this.#countedAt = counted.countedAt;
  }

  #countSoon(now: number): void {
    this.#isCounting = true;
    this.#ownCountAt = now;
    this.#count(now)
      .catch((error: unknown) => {
        // The count before is as good as there is.
        this.#with.runtime.logger.log('WARNING', 'the backlog could not be counted', { error: describeError(error) });
      })
      .finally(() => {
        this.#isCounting = false;
      });
  }

  async #count(now: number): Promise<void> {
    const { store, runtime } = this.#with;
    const time = new AbortController();
    const cancel = runtime.clock.after(COUNT_TIMEOUT_MILLIS, () => {
      time.abort(new Error(`no answer within ${COUNT_TIMEOUT_MILLIS} ms`));
    });
    try {
      this.#take({ ...(await store.countBacklog(time.signal)), countedAt: now });
    } finally {
      cancel();
    }
  }

  #warnOfSilence(silentMillis: number, now: number): void {
    if (silentMillis < SILENCE_MILLIS || now - this.#warnedAt < WARNING_MILLIS) return;
    this.#warnedAt = now;
    this.#with.runtime.logger.log(
      'ERROR',
      `no checkpoint was looked after for ${Math.round(silentMillis / 1000)} s: nothing that is staged becomes visible. Is the scheduler job there that calls coordinate, and does it succeed?`,
      { silentMillis },
    );
  }
}
