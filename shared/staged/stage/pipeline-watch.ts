import { abortable } from '../../base/abort.ts';
import { describeError } from '../../base/logging.ts';
import type { Runtime } from '../../base/runtime.ts';
import { mustHold, type OwnFingerprint } from '../fingerprint.ts';
import type { PipelineState } from '../state.ts';
import type { StagingStore } from '../ports.ts';

/** A number is used for so long after the read that it comes from began; see `LATE_MILLIS` of the coordinator's look. */
export const NUMBER_MILLIS = 60_000;

/** The longest that a stager in use goes by one read. */
const REFRESH_MILLIS = 10_000;

const READ_TIMEOUT_MILLIS = 10_000;

/** How long after its slot begins a checkpoint is complete, as a rule; and how far instances are spread behind that. */
const COMPLETION_MILLIS = 300;
const SPREAD_MILLIS = 500;

/** A checkpoint that is late is looked for after so long, or a tenth of a shorter interval. */
const SOON_MILLIS = 500;

export interface PipelineWatchDependencies {
  readonly store: Pick<StagingStore, 'readPipeline'>;
  readonly runtime: Pick<Runtime, 'clock' | 'random' | 'logger'>;
  /** What this instance makes identities of. */
  readonly fingerprint: OwnFingerprint;
}

/**
 * What one stager knows of its pipeline's document. It is read beside the messages: when the next checkpoint should be
 * complete, again in growing distances until it is, and at least every ten seconds of use. A message waits for a read
 * only where the last one is too old to number segments by.
 */
export class PipelineWatch {
  readonly #intervalMillis: number;
  readonly #with: PipelineWatchDependencies;
  #state: PipelineState | undefined;
  /** When the read began that the state comes from. */
  #readAt = -Infinity;
  #nextReadAt = -Infinity;
  /** Reads that found nothing new, one after the other. */
  #fruitless = 0;
  #reading: Promise<void> | undefined;

  constructor(checkpointIntervalMillis: number, dependencies: PipelineWatchDependencies) {
    this.#intervalMillis = checkpointIntervalMillis;
    this.#with = dependencies;
  }

  /** As it was read last; undefined before that, and before the first coordinator. */
  get state(): PipelineState | undefined {
    return this.#state;
  }

  /** When the state was read; `-Infinity` where none was. */
  get readAt(): number {
    return this.#readAt;
  }

  /** Reads the document again where it is time to, and waits for nothing. */
  refreshIfDue(): void {
    if (this.#reading || this.#with.runtime.clock.now() < this.#nextReadAt) return;
    this.#read().catch((error: unknown) => {
      // What was read before is as good as there is.
      this.#with.runtime.logger.log('WARNING', 'the state of the pipeline could not be read', {
        error: describeError(error),
      });
    });
  }

  /**
   * The number of the checkpoint that owns what is staged now. Rejects with what keeps it from being read, or with a
   * `RedeliverError` where identities hang on other values by now.
   */
  async numberToStage(signal: AbortSignal): Promise<number> {
    this.refreshIfDue();
    const isOld = this.#with.runtime.clock.now() - this.#readAt >= NUMBER_MILLIS;
    if (isOld) await abortable(this.#read(), signal);
    mustHold(this.#state?.fingerprint, this.#with.fingerprint);
    return (this.#state?.completed ?? 0) + 1;
  }

  /** One at a time, whoever asks for it. */
  #read(): Promise<void> {
    this.#reading ??= this.#readNow().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readNow(): Promise<void> {
    const { store, runtime } = this.#with;
    const { clock } = runtime;
    const time = new AbortController();
    const cancel = clock.after(READ_TIMEOUT_MILLIS, () => {
      time.abort(new Error(`no answer within ${READ_TIMEOUT_MILLIS} ms`));
    });
    const startedAt = clock.now();
    this.#nextReadAt = startedAt + 1000;
    try {
      const before = this.#state?.completed;
      this.#state = await store.readPipeline(time.signal);
      this.#readAt = startedAt;
      this.#fruitless = this.#state?.completed === before ? this.#fruitless + 1 : 0;
      const { lastCompletedAt = 0 } = this.#state ?? {};
      this.#nextReadAt = nextReadAt(
        lastCompletedAt,
        this.#fruitless,
        this.#intervalMillis,
        clock.now(),
        runtime.random(),
      );
    } finally {
      cancel();
    }
  }
}

/**
 * When to read again. Pure: when the next checkpoint should be complete; where that is past, soon, and then at doubling
 * distances.
 *
 * @param fruitless reads that found nothing new, one after the other.
 * @param spread in [0, 1).
 */
export function nextReadAt(
  lastCompletedAt: number,
  fruitless: number,
  intervalMillis: number,
  now: number,
  spread: number,
): number {
  const slotEnd = (Math.floor(lastCompletedAt / intervalMillis + EARLY_SHARE) + 1) * intervalMillis;
  const expectedAt = slotEnd + COMPLETION_MILLIS + SPREAD_MILLIS * spread;
  if (now < expectedAt) return Math.min(expectedAt, now + REFRESH_MILLIS);
  const soon = Math.min(SOON_MILLIS, intervalMillis / 10);
  return now + Math.min(soon * 2 ** Math.min(fruitless, 10), REFRESH_MILLIS / 2);
}

/** As ticks do: one at the end of a slot may be a little early. */
const EARLY_SHARE = 0.1;
