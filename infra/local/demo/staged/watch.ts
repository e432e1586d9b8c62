import { sleep, systemClock } from '../../../../shared/base/clock.ts';
import type { RunningPipeline } from '../../run/connector.ts';
import type { LocalPubSub } from '../../servers/pubsub/server.ts';
import type { Checkpoint, StagedState } from './checkpoints.ts';

const LOOK_MILLIS = 250;

/** What is not done yet, seen from outside: messages that wait, segments, checkpoints, and what is set apart for a while. */
export class Watch {
  readonly #pipelines: readonly RunningPipeline[];
  readonly #forever: string | undefined;
  readonly #pubsub: LocalPubSub;
  readonly #state: StagedState;
  #checkpoints: readonly Checkpoint[] = [];
  #segments = 0;
  #rests: ReadonlyMap<string, number> = new Map();

  /** @param forever the pipeline of which something stays set apart, and is not waited for. Default: none. */
  constructor(pipelines: readonly RunningPipeline[], pubsub: LocalPubSub, state: StagedState, forever?: string) {
    this.#pipelines = pipelines;
    this.#forever = forever;
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

  /** Segments of which something is set apart, as they were counted last: those of all pipelines. */
  get rests(): number {
    return sum([...this.#rests.values()]);
  }

  /** Those that must go away by themselves. */
  get passingRests(): number {
    return sum([...this.#rests].map(([pipeline, count]) => (pipeline === this.#forever ? 0 : count)));
  }

  /** The highest checkpoint of a pipeline; 0 before the first. */
  lastCheckpoint(pipeline: string): number {
    return Math.max(0, ...this.#checkpoints.filter((one) => one.pipeline === pipeline).map(({ number }) => number));
  }

  get openCheckpoints(): number {
    return this.#checkpoints.filter(({ committedAt }) => committedAt === undefined).length;
  }

  /** Messages of records that are not acknowledged. */
  get waitingMessages(): number {
    return sum(this.#pipelines.map(({ input }) => this.#pubsub.counters(input.name).backlog));
  }

  /**
   * Waits until all is published, every message acknowledged, no segment left, every checkpoint committed, and nothing set
   * apart but what stays so.
   */
  async untilDrained(isPublished: () => boolean, signal: AbortSignal): Promise<void> {
    for (;;) {
      // What is acknowledged before a look is staged, so the look sees it, or what became of it.
      const isStaged = isPublished() && this.waitingMessages === 0;
      await this.#look();
      if (isStaged && this.#segments === 0 && this.passingRests === 0 && this.openCheckpoints === 0) return;
      await sleep(systemClock, LOOK_MILLIS, signal);
    }
  }

  async #look(): Promise<void> {
    const names = this.#pipelines.map(({ name }) => name);
    // Segments first: what is gone by then is in a checkpoint and, if it was refused, set apart for the later readings.
    this.#segments = sum(await Promise.all(names.map((name) => this.#state.segments(name))));
    const rests = await Promise.all(names.map(async (name) => [name, await this.#state.rests(name)] as const));
    this.#rests = new Map(rests);
    this.#checkpoints = (await Promise.all(names.map((name) => this.#state.checkpoints(name)))).flat();
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, value) => total + value, 0);
