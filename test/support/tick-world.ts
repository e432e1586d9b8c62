import type { Clock } from '../../shared/base/clock.ts';
import { createMetrics, type MetricsRegistry } from '../../shared/base/metrics.ts';
import { createTicks, type Ticks } from '../../shared/coordinator/tick.ts';
import { checkpointDecider } from '../../shared/staged/checkpoint/checkpoint-decider.ts';
import type { CheckpointOptions } from '../../shared/staged/checkpoint/decide-checkpoint.ts';
import type { SegmentHead } from '../../shared/staged/state.ts';
import { type CommitWork, decodeWork } from '../../shared/staged/work-message.ts';
import type { OutgoingMessage, Publisher } from '../../shared/model/publishing.ts';
import { ManualClock } from './manual-clock.ts';
import { MemoryStageStore } from './memory-stage-store.ts';
import { testRuntime } from './runtime.ts';

export const OPTIONS: CheckpointOptions = {
  checkpointIntervalMillis: 10_000,
  maxStagedEntries: 100_000,
  maxStagedBytes: 64 * 1024 * 1024,
};

/** A topic that keeps what is published; a publish may be refused, before or after it is kept. */
export class MemoryWorkTopic implements Publisher {
  readonly messages: CommitWork[] = [];
  fault: () => 'error-before' | 'error-after' | undefined = () => undefined;

  async publish({ data }: OutgoingMessage): Promise<void> {
    await Promise.resolve();
    const fault = this.fault();
    if (fault === 'error-before') throw new Error('injected: nothing published');
    const work = decodeWork(data);
    if (!work) throw new Error('a message of the commit topic was no work');
    this.messages.push(work);
    if (fault === 'error-after') throw new Error('injected: published, unconfirmed');
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

interface DrainOptions {
  readonly times?: number;
  /** Which messages never arrive, by their place. */
  readonly lose?: (index: number) => boolean;
}

/** A staged pipeline in memory: its store, its topic, its stager and its committer, with time moved by hand. */
export class TickWorld {
  readonly clock = new ManualClock();
  readonly store = new MemoryStageStore(this.clock);
  readonly topic = new MemoryWorkTopic();
  readonly metrics: MetricsRegistry = createMetrics();
  readonly signal = new AbortController().signal;
  /** Ids of all segments that were ever staged. */
  readonly staged: string[] = [];
  /** Segment → the checkpoints that it was seen to belong to. */
  readonly owners = new Map<string, Set<number>>();
  #coordinators = 0;

  /** A new invocation, with a clock of its own that may differ. */
  coordinator(options: Partial<CheckpointOptions> = {}, skewMillis = 0): Ticks {
    this.#coordinators += 1;
    const clock: Clock = {
      now: () => this.clock.now() + skewMillis,
      after: (delayMillis, callback) => this.clock.after(delayMillis, callback),
      soon: (callback) => {
        this.clock.soon(callback);
      },
    };
    const { topic, metrics } = this;
    const store = this.store.coordinator;
    const runtime = testRuntime({ clock, metrics });
    const decider = checkpointDecider('orders', { ...OPTIONS, ...options }, { store, topic, runtime });
    return createTicks(decider, { store, clock, owner: `coordinator-${this.#coordinators}` });
  }

  /** Stages so many segments; the store is well meanwhile. */
  async stage(count: number, { envelopes = 2, bytes = 100 } = {}): Promise<void> {
    for (let left = count; left > 0; left -= 1) {
      // Random ids in production; here their order is another than that of their making.
      const id = `${((this.staged.length + 1) * 7919) % 100_003}-segment`;
      this.staged.push(id);
      const payload = Buffer.alloc(bytes);
      await this.store.staging.stage([{ id, envelopes, payload, stagedAt: this.clock.now() }], this.signal);
    }
  }

  /** The committer: drains what was published, each message `times` over, as if two instances had got it. */
  async drain({ times = 1, lose = () => false }: DrainOptions = {}): Promise<void> {
    this.watch();
    for (const [index, { segments }] of this.topic.messages.splice(0).entries()) {
      if (lose(index)) continue;
      const found = await this.store.committing.readSegments(segments, this.signal);
      const heads = found.map(({ head }) => head);
      for (let time = 0; time < times && heads.length > 0; time += 1) {
        await this.store.committing.finish(heads, this.clock.now(), this.signal);
      }
    }
  }

  /** Notes whose the segments are. */
  watch(): void {
    for (const { id, checkpoint } of this.store.segments) {
      if (checkpoint === undefined) continue;
      this.owners.set(id, (this.owners.get(id) ?? new Set()).add(checkpoint));
    }
  }

  heads(state: SegmentHead['state']): readonly SegmentHead[] {
    return this.store.segments.filter((head) => head.state === state);
  }

  /** Goes on well from here, with a fresh coordinator, until nothing is left to do. */
  async settle(): Promise<void> {
    const coordinator = this.coordinator();
    for (let tick = 0; tick < 100; tick += 1) {
      await coordinator.tick(this.signal);
      await this.drain();
      await this.clock.advance(10_000);
      const isDone =
        this.store.segments.length === 0 && this.store.checkpoints.every(({ state }) => state === 'committed');
      if (isDone) return;
    }
    throw new Error('not settled after 100 ticks');
  }
}
