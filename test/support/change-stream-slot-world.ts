import { type HeldPartition, type Partition, type Token } from '../../shared/change-stream/ledger/partition.ts';
import type { LedgerWrite } from '../../shared/change-stream/ledger/writes.ts';
import { readSlot, type SlotReport } from '../../shared/change-stream/read-slot.ts';
import type { Source } from '../../shared/change-stream/source.ts';
import { createEmission } from '../../shared/emission/emission.ts';
import type { RowRange } from '../../shared/model/row-range.ts';
import { OUT } from './emission-harness.ts';
import { at, FakeStream } from './fake-partition-streams.ts';
import { FakeTopic } from './fake-topic.ts';
import { ManualClock } from './manual-clock.ts';
import { MemoryChangeStreamStore } from './memory-change-stream-store.ts';
import { testRuntime } from './runtime.ts';
import { rangeFrom } from './slot-world.ts';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** The range of a partition of these tests, by its place: `[a, b)`, `[b, c)`, … */
export const rangeAt = (place: number): RowRange => rangeFrom(LETTERS.charAt(place), LETTERS.charAt(place + 1));

export const idAt = (place: number): string => `p${place}`;

/** One invocation of a slot. */
export interface Invocation {
  readonly stop: AbortController;
  readonly end: AbortController;
  readonly done: Promise<SlotReport | Error>;
  report?: SlotReport | Error;
}

/** A source of changes in memory, its topic, and slots that read it, with time moved by hand. */
export class ChangeStreamSlotWorld {
  readonly clock = new ManualClock();
  readonly store = new MemoryChangeStreamStore(this.clock);
  readonly topic = new FakeTopic(this.clock);
  readonly runtime = testRuntime({ clock: this.clock });
  /** Every stream that was opened, in order. */
  readonly streams: FakeStream[] = [];
  /** Called for every stream that is opened. */
  onOpen: (stream: FakeStream) => void = () => undefined;
  readonly #signal = new AbortController().signal;
  #owners = 0;

  async started(partitions: number, more: Partial<Source> & { readonly held?: Partial<HeldPartition> } = {}) {
    const { held, ...source } = more;
    const value: Source = { commits: 1, status: 'reading', generation: 1, options: '{}', dead: [], ...source };
    const waiting = Array.from({ length: partitions }, (_, place): Partition => ({
      id: idAt(place),
      generation: 1,
      range: rangeAt(place),
      position: { tokens: [], lowWatermark: at(place) },
      round: 0,
      failures: 0,
      state: { kind: 'waiting', since: this.clock.now() },
      ...held,
    }));
    await this.store.coordinator.commit(
      {
        pipeline: { version: undefined, value: { ...value, lease: { owner: '', epoch: 1, expiresAt: 0 } } },
        changes: waiting.map((partition) => ({ kind: 'new-partition', partition })),
      },
      this.#signal,
    );
    return this;
  }

  /** The source becomes something else, and its ledger with it. */
  async becomes(source: Partial<Source>, changes: readonly LedgerWrite[] = []): Promise<void> {
    const read = await this.store.coordinator.readPipeline(this.#signal);
    if (!read) throw new Error('nothing was started');
    const value = { ...read.value, ...source, commits: read.value.commits + 1 };
    await this.store.coordinator.commit({ pipeline: { version: read.version, value }, changes }, this.#signal);
  }

  invoke(slot = 0, { parallelism = 1, maxConcurrentStreams = 16 } = {}): Invocation {
    const stop = new AbortController();
    const end = new AbortController();
    this.#owners += 1;
    const { runtime } = this;
    const done = readSlot(
      {
        ...{
          slot,
          owner: `owner-${this.#owners}`,
          store: this.store.slots,
          parallelism,
          maxConcurrentStreams,
          runtime,
        },
        commitIntervalMillis: 5_000,
        workOf: () =>
          Promise.resolve({
            open: (range, position, signal) => {
              const stream = new FakeStream(range, position, signal);
              this.streams.push(stream);
              this.onOpen(stream);
              return stream;
            },
            messagesOf: ({ rowKey }) => [{ data: rowKey, attributes: {}, orderingKey: rowKey.toString().slice(0, 1) }],
            unit: {
              topic: OUT,
              attributes: {},
              maxRecordsPerMessage: 1,
              oversizedMessage: 'fail',
              failurePolicy: 'fail',
              setApart: () => Promise.reject(new Error('nothing is set apart here')),
            },
          }),
        toolsFor: (session) => {
          const emission = createEmission({
            ...{ runtime, send: this.topic.send, maxOutstandingBytes: 1_000_000 },
            remainingMillis: () => session.remainingMillis(),
            signal: AbortSignal.any([end.signal, session.lost]),
          });
          return {
            openUnit: (options, onConfirmed) => emission.open(options, onConfirmed),
            close: () => {
              emission.close();
            },
          };
        },
      },
      { stop: stop.signal, end: end.signal },
    ).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
    const invocation: Invocation = { stop, end, done };
    done
      .then((report) => {
        invocation.report = report;
      })
      .catch(() => undefined);
    return invocation;
  }

  /** The stream of a partition that is read now. */
  open(range: RowRange): FakeStream {
    const found = this.streams.findLast((stream) => stream.range === range || sameRange(stream.range, range));
    if (!found || found.isClosed) throw new Error('the partition is not read');
    return found;
  }

  get reading(): FakeStream[] {
    return this.streams.filter(({ isClosed }) => !isClosed);
  }

  partition(id: string): Partition {
    const found = this.store.partitions.find((each) => each.id === id);
    if (!found) throw new Error(`no partition ${id}`);
    return found;
  }

  counter(name: string): number {
    const value = (this.#counted[name] ?? 0) + (this.runtime.metrics.snapshot().counters[name] ?? 0);
    return (this.#counted[name] = value);
  }
  readonly #counted: Record<string, number> = {};
}

const sameRange = (left: RowRange, right: RowRange): boolean =>
  JSON.stringify([left.start, left.end]) === JSON.stringify([right.start, right.end]);

/** The tokens of a position, as texts. */
export const textsOf = (tokens: readonly Token[]): string[] => tokens.map(({ token }) => token);
