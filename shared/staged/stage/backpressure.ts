import { RedeliverError } from '../../base/errors.ts';
import { describeError } from '../../base/logging.ts';
import type { Runtime } from '../../base/runtime.ts';
import { BacklogView, refusalOf, type StagingCaps, type Weight } from './backlog-view.ts';
import type { StagingStore } from '../ports.ts';

export interface BackpressureDependencies {
  readonly store: Pick<StagingStore, 'readPipeline'>;
  readonly runtime: Runtime;
}

/** The count is read at most this often, beside the messages and never in their way. */
const REFRESH_MILLIS = 5000;
const READ_TIMEOUT_MILLIS = 10_000;

/** Without a count for so long nobody ticks. Said at most once a minute. */
const SILENCE_MILLIS = 300_000;
const WARNING_MILLIS = 60_000;

/**
 * Turns messages away while the backlog is at its caps, so that Pub/Sub holds what the committers cannot keep up with.
 * Goes by the last count that could be read: a message never waits for one.
 */
export class Backpressure {
  readonly #caps: StagingCaps;
  readonly #with: BackpressureDependencies;
  readonly #view = new BacklogView();
  #isReading = false;
  #readAt = -Infinity;
  /** Of the coordinator; before its first, when this instance began to look. */
  #countedAt: number | undefined;
  #warnedAt = -Infinity;

  constructor(caps: StagingCaps, dependencies: BackpressureDependencies) {
    this.#caps = caps;
    this.#with = dependencies;
    dependencies.runtime.metrics.observe('stagedEntries', () => this.#view.total.entries);
    dependencies.runtime.metrics.observe('stagedBytes', () => this.#view.total.bytes);
  }

  /** Throws a `RedeliverError` when a message has to wait outside. */
  admit(): void {
    this.#refreshIfDue();
    const refusal = refusalOf(this.#view.total, this.#caps);
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

  #refreshIfDue(): void {
    const now = this.#with.runtime.clock.now();
    if (this.#isReading || now - this.#readAt < REFRESH_MILLIS) return;
    this.#isReading = true;
    this.#readAt = now;
    this.#refresh()
      .catch((error: unknown) => {
        // The count before is as good as there is.
        this.#with.runtime.logger.log('WARNING', 'the backlog could not be read', { error: describeError(error) });
      })
      .finally(() => {
        this.#isReading = false;
      });
  }

  async #refresh(): Promise<void> {
    const { store, runtime } = this.#with;
    const { clock } = runtime;
    const time = new AbortController();
    const cancel = clock.after(READ_TIMEOUT_MILLIS, () => {
      time.abort(new Error(`no answer within ${READ_TIMEOUT_MILLIS} ms`));
    });
    try {
      const pipeline = await store.readPipeline(time.signal);
      if (pipeline) this.#view.counted(pipeline);
      this.#countedAt = pipeline?.countedAt ?? this.#countedAt ?? clock.now();
      this.#warnOfSilence(clock.now() - this.#countedAt);
    } finally {
      cancel();
    }
  }

  #warnOfSilence(silentMillis: number): void {
    const now = this.#with.runtime.clock.now();
    if (silentMillis < SILENCE_MILLIS || now - this.#warnedAt < WARNING_MILLIS) return;
    this.#warnedAt = now;
    this.#with.runtime.logger.log(
      'ERROR',
      `no checkpoint was looked after for ${Math.round(silentMillis / 1000)} s: nothing that is staged becomes visible. Is the scheduler job there that calls coordinate, and does it succeed?`,
      { silentMillis },
    );
  }
}
