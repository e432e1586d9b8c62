import { sleep, systemClock } from '../../../../shared/base/clock.ts';
import type { RunningPipeline } from '../../run/connector.ts';
import type { LocalPubSub } from '../../servers/pubsub/server.ts';
import type { Checkpoint, StagedState } from './checkpoints.ts';

const LOOK_MILLIS = 250;

/** What is not done yet, seen from outside: messages that wait, segments, checkpoints. */
export class Watch {
  readonly #pipelines: readonly RunningPipeline[];
  readonly #pubsub: LocalPubSub;
  readonly #state: StagedState;
  #checkpoints: readonly Checkpoint[] = [];
  #segments = 0;

  constructor(pipelines: readonly RunningPipeline[], pubsub: LocalPubSub, state: StagedState) {
    this.#pipelines = pipelines;
    this.#pubsub = pubsub;
    this.#state = state;
  }

  /** As they were seen last. */
  get checkpoints(): readonly Checkpoint[] {
    return this.#checkpoints;
  }

  /** As they were counted last. */
  get segments(): number {
    return this.#segments;
  }

  get openCheckpoints(): number {
    return this.#checkpoints.filter(({ committedAt }) => committedAt === undefined).length;
  }

  /** Messages of records that are not acknowledged. */
  get waitingMessages(): number {
    return this.#pipelines.reduce((sum, { input }) => sum + this.#pubsub.counters(input.name).backlog, 0);
  }

  /** Waits until all is published, every message acknowledged, no segment left and every checkpoint committed. */
  async untilDrained(isPublished: () => boolean, signal: AbortSignal): Promise<void> {
    for (;;) {
      // What is acknowledged before a look is staged, so the look sees it, or what became of it.
      const isStaged = isPublished() && this.waitingMessages === 0;
      await this.#look();
      if (isStaged && this.#segments === 0 && this.openCheckpoints === 0) return;
      await sleep(systemClock, LOOK_MILLIS, signal);
    }
  }

  async #look(): Promise<void> {
    const names = this.#pipelines.map(({ name }) => name);
    // Segments first: one that is gone by then is counted in a checkpoint that the second reading sees.
    const segments = await Promise.all(names.map((name) => this.#state.segments(name)));
    this.#segments = segments.reduce((sum, count) => sum + count, 0);
    this.#checkpoints = (await Promise.all(names.map((name) => this.#state.checkpoints(name)))).flat();
  }
}
