import type { Logger } from '../../base/logging.ts';
import type { CommittingStore, StoredSegment } from '../ports.ts';

/**
 * The number of the last completed checkpoint, as far as this instance knows: at least so much is complete, because it
 * never falls. It is read again only when a segment asks for more.
 */
export class CompletedNumber {
  readonly #store: Pick<CommittingStore, 'readPipeline'>;
  readonly #logger: Logger;
  #known = 0;

  constructor(store: Pick<CommittingStore, 'readPipeline'>, logger: Logger) {
    this.#store = store;
    this.#logger = logger;
  }

  /** Those of the segments whose checkpoint is complete. The others are left to the coordinator, which sends them. */
  async readyOf(segments: readonly StoredSegment[], signal: AbortSignal): Promise<readonly StoredSegment[]> {
    const highest = Math.max(0, ...segments.map(({ head }) => head.number));
    if (highest > this.#known) {
      const pipeline = await this.#store.readPipeline(signal);
      this.#known = Math.max(this.#known, pipeline?.completed ?? 0);
    }
    if (highest <= this.#known) return segments;
    const ready = segments.filter(({ head }) => head.number <= this.#known);
    this.#logger.log('WARNING', 'work came for a checkpoint that is not complete, and was left alone', {
      completed: this.#known,
      asked: highest,
      segments: segments.length - ready.length,
    });
    return ready;
  }
}
