import { TEST_FINGERPRINT } from './fingerprint.ts';
import type { Clock } from '../../shared/base/clock.ts';
import { createMetrics, type MetricsRegistry } from '../../shared/base/metrics.ts';
import { createTicks, type Ticks } from '../../shared/coordinator/tick.ts';
import { checkpointDecider } from '../../shared/staged/checkpoint/checkpoint-decider.ts';
import type { CheckpointOptions } from '../../shared/staged/checkpoint/decide-checkpoint.ts';
import type { SegmentHead } from '../../shared/staged/state.ts';
import { type CommitWork, decodeWork } from '../../shared/staged/work-message.ts';
import type { OutgoingMessage, Publisher } from '../../shared/model/publishing.ts';
import { LANES, segmentId } from '../../shared/staged/segment-id.ts';
import { ManualClock } from './manual-clock.ts';
import { MemoryStageStore } from './memory-stage-store.ts';
import { testRuntime } from './runtime.ts';

export const OPTIONS: CheckpointOptions = {
  checkpointIntervalMillis: 10_000,
  maxStagedEntries: 100_000,
  maxStagedBytes: 64 * 1024 * 1024,
  patienceMillis: 600_000,
  fingerprint: TEST_FINGERPRINT,
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
  /** Which segments cannot be finished now. */
  readonly leave?: (head: SegmentHead) => boolean;
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
  /** Ids that committers were given. */
  readonly given = new Set<string>();
  #coordinators = 0;

  /** A new invocation, with a clock of its own that may differ. */
  coordinator(options: Partial<CheckpointOptions> = {}, skewMillis = 0): Ticks {
    this.#coordinators += 1;
    const clock: Clock = {
      now: () => this.clock.now() + skewMillis,
      monotonic: () => this.clock.monotonic(),
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

  /** Stages so many segments, as a stager does that has just read the pipeline. @param number where it has not. */
  async stage(count: number, { envelopes = 2, bytes = 100, number = this.nextNumber } = {}): Promise<void> {
    for (const id of this.#newIds(count, number)) {
      const payload = Buffer.alloc(bytes);
      await this.store.staging.stage([{ id, envelopes, payload, stagedAt: this.clock.now() }], this.signal);
    }
  }

  /** The same of so many that the store is not asked for each. */
  plant(count: number, { envelopes = 1, bytes = 10 } = {}): void {
    this.store.plant(this.#newIds(count, this.nextNumber), { envelopes, bytes });
  }

  #newIds(count: number, number: number): readonly string[] {
    return Array.from({ length: count }, () => {
      const place = this.staged.length;
      // Random ids in production; here their order is another than that of their making.
      const random = (BigInt(place + 1) * 0x9e37_79b9_7f4a_7c15n) & 0xffff_ffff_ffff_ffffn;
      const id = segmentId(place % LANES, number, random.toString(16).padStart(16, '0'));
      this.staged.push(id);
      return id;
    });
  }

  get nextNumber(): number {
    return (this.store.pipeline?.completed ?? 0) + 1;
  }

  /** The committer: drains what was published, each message `times` over, as if two instances had got it. */
  async drain({ times = 1, lose = () => false, leave = () => false }: DrainOptions = {}): Promise<void> {
    for (const [index, work] of this.topic.messages.splice(0).entries()) {
      if (lose(index)) continue;
      const heads = this.inWork(work);
      for (const { id } of heads) this.given.add(id);
      const finished = heads.filter((head) => !leave(head)).map((head) => ({ head }));
      for (let time = 0; time < times && finished.length > 0; time += 1) {
        await this.store.committing.finish(finished, this.signal);
      }
    }
  }

  /** The segment that comes first is finished but for one envelope, which is set apart. */
  async setApart(
    problem: string,
    { attempts, tryInMillis }: { readonly attempts: number; readonly tryInMillis: number },
  ): Promise<void> {
    const [head] = this.topic.messages.flatMap((work) => this.inWork(work));
    if (!head) throw new Error('nothing was sent');
    const payload = Buffer.from('open');
    const { id, stagedAt } = head;
    const tryAt = this.clock.now() + tryInMillis;
    const rest = { id, problem, attempts, tryAt, envelopes: 1, bytes: payload.length, parts: 0, stagedAt };
    await this.store.committing.finish([{ head, rest: { head: rest, payload } }], this.signal);
  }

  /** What is there of a message now. */
  inWork({ ranges, segments }: CommitWork): readonly SegmentHead[] {
    return [
      ...ranges.flatMap((range) => this.store.headsIn(range)),
      ...segments.flatMap((id) => this.store.head(id) ?? []),
    ];
  }

  /** Goes on well from here, with a fresh coordinator, until nothing is left to do. */
  async settle(): Promise<void> {
    for (let tick = 0; tick < 200; tick += 1) {
      const coordinator = this.coordinator();
      await coordinator.tick(this.signal);
      await coordinator.release(this.signal);
      await this.drain();
      await this.clock.advance(10_000);
      const { pipeline, segments } = this.store;
      if (segments.length === 0 && pipeline?.committed === pipeline?.completed) return;
    }
    throw new Error('not settled after 200 ticks');
  }
}
