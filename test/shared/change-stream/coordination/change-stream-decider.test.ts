import { beforeEach, describe, expect, test } from 'vitest';
import { changeStreamDecider } from '../../../../shared/change-stream/coordination/change-stream-decider.ts';
import type { AskedSource } from '../../../../shared/change-stream/coordination/source-step.ts';
import { SourceWatch } from '../../../../shared/change-stream/coordination/source-watch.ts';
import type { PartitionClose } from '../../../../shared/change-stream/ledger/close-partition.ts';
import { isOpen, type Partition } from '../../../../shared/change-stream/ledger/partition.ts';
import { endPartition, takePartition } from '../../../../shared/change-stream/ledger/partition-updates.ts';
import { nanosOf } from '../../../../shared/change-stream/ledger/position-of.ts';
import type { StartPosition } from '../../../../shared/change-stream/ledger/start-position.ts';
import type { LedgerWrite, TableLook } from '../../../../shared/change-stream/ports.ts';
import { StreamFailedError } from '../../../../shared/change-stream/reading/ports.ts';
import { createTicks, type Ticks } from '../../../../shared/coordinator/tick.ts';
import { formatRange, type RowRange, WHOLE_TABLE } from '../../../../shared/model/row-range.ts';
import { MemoryChangeStreamStore } from '../../../support/memory-change-stream-store.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { range, token } from '../../../support/partitions.ts';
import { testRuntime, type TestRuntime } from '../../../support/runtime.ts';

const DAY = 24 * 3_600_000;
const TABLE = { project: 'p', instance: 'i', table: 't' };
const { signal } = new AbortController();

class World {
  readonly clock = new ManualClock();
  readonly store = new MemoryChangeStreamStore(this.clock);
  readonly runtime: TestRuntime = testRuntime({ clock: this.clock });
  readonly watch = new SourceWatch(this.runtime.metrics);
  asked: AskedSource = { options: '{"a":1}' };
  start: StartPosition = { kind: 'latest' };
  partitions: readonly RowRange[] = [range('', 'm'), range('m', '')];
  look: TableLook = { problems: [], warnings: [], retentionMillis: DAY };
  listError: Error | undefined;
  lookError: Error | undefined;
  /** What happens while the service is asked for its partitions. */
  whileListing: () => Promise<void> = () => Promise.resolve();
  lists = 0;
  #invocations = 0;

  invocation(): Ticks {
    const decider = changeStreamDecider('changes', {
      ...{
        store: this.store.coordinator,
        asked: this.asked,
        start: this.start,
        watch: this.watch,
        runtime: this.runtime,
      },
      lookAtTable: () => (this.lookError ? Promise.reject(this.lookError) : Promise.resolve(this.look)),
      listPartitions: async () => {
        this.lists += 1;
        await this.whileListing();
        if (this.listError) throw this.listError;
        return this.partitions;
      },
    });
    return createTicks(decider, {
      store: this.store.coordinator,
      clock: this.clock,
      owner: `me-${(this.#invocations += 1)}`,
    });
  }

  /** Ticks of one invocation, ten seconds apart. */
  async ticks(count: number, ticks = this.invocation()): Promise<void> {
    for (let tick = 0; tick < count; tick += 1) {
      await ticks.tick(signal);
      await this.clock.advance(10_000);
    }
    ticks.end?.();
    await ticks.release(signal);
  }

  /** Invocations of one tick each, a minute apart. */
  async minutes(count: number): Promise<void> {
    for (let minute = 0; minute < count; minute += 1) {
      await this.ticks(1);
      await this.clock.advance(50_000);
    }
  }

  get open(): readonly Partition[] {
    const { generation = 0 } = this.store.source ?? {};
    return this.store.partitions.filter((each) => each.generation === generation && isOpen(each));
  }

  get ranges(): string[] {
    return this.open.map(({ range: of }) => formatRange(of)).toSorted();
  }

  gauge(name: string): number | undefined {
    return this.runtime.metrics.snapshot().gauges[name];
  }

  /** What a slot would write: it takes a partition and ends it. */
  async close(of: RowRange, close: Partial<PartitionClose>, isBounded = false): Promise<void> {
    const found = this.open.find(({ range: each }) => formatRange(each) === formatRange(of));
    if (!found) throw new Error(`nobody has ${formatRange(of)}`);
    const { generation } = found;
    const waiting = await this.store.slots.readWaiting(generation, this.clock.now(), 100, signal);
    const { version, partition } = waiting.find((each) => each.partition.id === found.id)!;
    await this.commit({ [found.id]: found }, [takePartition(partition, found, { slot: 0, epoch: 1, version })]);
    const merges = new Map([...this.store.ledger(generation).merges].map((each) => [each.value.id, each]));
    const update = endPartition(
      found.id,
      { position: found.position, isEnd: false, successors: [], ...close },
      merges,
      { now: this.clock.now(), isBounded, keptMillis: 2 * DAY },
    );
    await this.commit({}, update.edit({ [found.id]: found })!.changes);
  }

  async commit(units: Record<string, Partition>, changes: readonly LedgerWrite[]): Promise<void> {
    const read = await this.store.slots.readSlot(0, signal);
    const value = { owner: 'slot', epoch: 1, attempt: (read?.value.attempt ?? 0) + 1, units };
    const outcome = await this.store.slots.commit({ slot: 0, version: read?.version, value, changes }, signal);
    expect(outcome.kind).toBe('committed');
  }
}

let world: World;

beforeEach(() => {
  world = new World();
});

describe('a source that was never started', () => {
  test('has every partition of the service from its start position on, in one commit', async () => {
    let commits = 0;
    world.store.onTickCommit = ({ changes = [] }) => {
      if (changes.length > 0) commits += 1;
    };
    await world.invocation().tick(signal);
    expect(commits).toBe(1);
    expect(world.store.source).toMatchObject({
      ...{ status: 'reading', generation: 1, options: '{"a":1}', startTime: nanosOf(world.clock.now() - 2_000) },
      retention: { millis: DAY, fetchedAt: world.clock.now() },
    });
    expect(world.open.map(({ position, state }) => [position, state.kind])).toEqual([
      [{ tokens: [], lowWatermark: world.store.source?.startTime }, 'waiting'],
      [{ tokens: [], lowWatermark: world.store.source?.startTime }, 'waiting'],
    ]);
  });

  test('is started once, whatever the service tells later', async () => {
    await world.ticks(2);
    world.partitions = [WHOLE_TABLE];
    world.start = { kind: 'earliest' };
    await world.minutes(3);
    expect(world.ranges).toEqual(['(*, m)', '[m, *)']);
    expect(world.store.source?.generation).toBe(1);
  });

  test('of many partitions is not read before the last of them is written, and then all at once', async () => {
    const keys = Array.from({ length: 999 }, (_, index) => String(index).padStart(4, '0'));
    world.partitions = ['', ...keys].map((start, index) => range(start, keys[index] ?? ''));
    const seen: unknown[] = [];
    world.store.onTickCommit = ({ pipeline, changes = [] }) => {
      if (changes.length > 0) seen.push([pipeline.value.status, changes.length]);
    };
    await world.invocation().tick(signal);
    expect(seen).toEqual([
      ['starting', 400],
      ['starting', 400],
      ['reading', 201],
    ]);
    expect(world.open).toHaveLength(1000);
  });

  test('of which a coordinator died in the middle is started anew, and what that one left goes', async () => {
    const keys = Array.from({ length: 999 }, (_, index) => String(index).padStart(4, '0'));
    world.partitions = ['', ...keys].map((start, index) => range(start, keys[index] ?? ''));
    world.store.fault = ({ method, number }) => (method === 'commitTick' && number > 4 ? 'error-before' : undefined);
    await world
      .invocation()
      .tick(signal)
      .catch(() => undefined);
    expect(world.store.source).toMatchObject({ status: 'starting', generation: 1, written: 400 });
    world.store.fault = () => undefined;
    world.partitions = [range('', 'x'), range('x', '')];
    await world.clock.advance(60_000);
    await world.ticks(4);
    expect(world.store.source).toMatchObject({ status: 'reading', generation: 2, dead: [] });
    expect(world.store.partitions.map(({ generation }) => generation)).toEqual([2, 2]);
  });

  test('is started by one of two coordinators that begin at once, and the plan of the other is nobody’s', async () => {
    const keys = Array.from({ length: 500 }, (_, index) => String(index).padStart(4, '0'));
    world.partitions = ['', ...keys].map((start, index) => range(start, keys[index] ?? ''));
    await Promise.allSettled([world.invocation().tick(signal), world.invocation().tick(signal)]);
    await world.clock.advance(60_000);
    await world.ticks(3);
    expect(world.store.source?.status).toBe('reading');
    expect(world.open).toHaveLength(501);
    expect(new Set(world.ranges).size).toBe(501);
  });

  test.each<[string, (of: World) => void, string]>([
    ['has no change stream', (of) => (of.look = { problems: ['turn it on'], warnings: [] }), 'turn it on'],
    [
      'may not be listed',
      (of) =>
        (of.listError = new StreamFailedError(
          'status',
          { table: TABLE },
          { code: 'PERMISSION_DENIED', message: 'no' },
        )),
      'PERMISSION_DENIED',
    ],
    ['has no partition', (of) => (of.partitions = []), 'names no partition'],
    [
      'would start in the future',
      (of) => (of.start = { kind: 'at', time: nanosOf(of.clock.now() + 60_000) }),
      'lies in the future',
    ],
  ])(
    'of a table that %s is stopped with its reason, and started a minute after that is gone',
    async (_, disturb, reason) => {
      disturb(world);
      await world.ticks(2);
      expect(world.store.source?.status).toBe('stopped');
      expect(world.store.source?.problem).toContain(reason);
      expect(world.gauge('sourceStopped')).toBe(1);
      const healthy = new World();
      ({ look: world.look, partitions: world.partitions, start: world.start, listError: world.listError } = healthy);
      await world.clock.advance(40_000);
      await world.ticks(2);
      expect(world.store.source).toMatchObject({ status: 'reading', generation: 1 });
      expect(world.store.source).not.toHaveProperty('problem');
      expect(world.gauge('sourceStopped')).toBe(0);
    },
  );

  test('waits for a service that does not answer, and is not stopped by it', async () => {
    world.lookError = new Error('503');
    await world.ticks(3);
    expect(world.store.source).toBeUndefined();
    world.lookError = undefined;
    await world.ticks(1);
    expect(world.store.source?.status).toBe('reading');
  });

  test('that asks for more than is kept starts later, and says what is left out', async () => {
    world.start = { kind: 'ago', millis: 2 * DAY };
    await world.ticks(1);
    expect(world.runtime.lines.join('')).toContain('starts later than it was asked to');
  });
});

describe('a source that is read', () => {
  beforeEach(async () => {
    await world.ticks(1);
  });

  test('of which nothing changes takes no lease and writes nothing but the retention, every four minutes or more', async () => {
    const before = world.store.billed.writes;
    await world.minutes(20);
    expect(world.store.billed.writes - before).toBeLessThanOrEqual(3 * 4);
  });

  test('is asked of the service every ten seconds, and its ledger is read once a minute', async () => {
    const calls = (method: string) => world.store.calls.filter((call) => call.method === method).length;
    const [lists, ledgers] = [world.lists, calls('readLedger')];
    await world.ticks(6);
    expect(world.lists - lists).toBe(6);
    expect(calls('readLedger') - ledgers).toBe(1);
  });

  test('has a lost part of the table noted at the next tick, and read from its exact position twenty minutes later', async () => {
    const position = { tokens: [token('', 'm')], lowWatermark: nanosOf(world.clock.now()) };
    // The service names no token for a part of it.
    await world.close(range('', 'm'), { position, successors: [{ target: range('', 'c'), token: token('', 'c') }] });
    world.partitions = [range('', 'c'), range('c', 'm'), range('m', '')];
    expect(world.store.missing).toMatchObject([{ range: range('c', 'm'), lowWatermark: position.lowWatermark }]);
    await world.minutes(19);
    expect(world.ranges).toEqual(['(*, c)', '[m, *)']);
    expect(world.gauge('partitionsMissing')).toBe(1);
    await world.minutes(3);
    expect(world.ranges).toEqual(['(*, c)', '[c, m)', '[m, *)']);
    expect(world.store.missing).toEqual([]);
    expect(world.open.find(({ range: of }) => formatRange(of) === '[c, m)')?.position).toEqual({
      tokens: [],
      lowWatermark: position.lowWatermark,
    });
    const lines = world.runtime.lines.join('');
    expect(lines).toContain('changes come twice');
    expect(lines).toContain('"waiting":"(*, c) [m, *)"');
  });

  test('counts restarts that lose changes apart from those that repeat them, with both positions in the log', async () => {
    world.look = { problems: [], warnings: [], retentionMillis: 10 * 60_000 };
    const position = { tokens: [token('', 'm')], lowWatermark: nanosOf(world.clock.now()) };
    await world.close(range('', 'm'), { position, successors: [{ target: range('', 'c'), token: token('', 'c') }] });
    await world.minutes(22);
    const { counters } = world.runtime.metrics.snapshot();
    expect(counters).toMatchObject({ changeStreamPartitionsReconciled: 1, changeStreamClampedRestarts: 1 });
    expect(counters).not.toHaveProperty('changeStreamTokenlessRestarts');
    const line = world.runtime.lines.find((each) => each.includes('changes before it are lost')) ?? '';
    expect(line).toContain('"lost":"2026');
    expect(line).toContain('"from":"2026');
  });

  test('has tokens that wait for a parent that does not come read without it after two minutes', async () => {
    await world.close(range('', 'm'), { successors: [{ target: range('', ''), token: token('', 'm') }] });
    world.partitions = [WHOLE_TABLE];
    await world.minutes(2);
    expect(world.store.merges).toHaveLength(1);
    await world.minutes(2);
    expect(world.ranges).toEqual(['(*, m)', '[m, *)']);
    expect(world.store.merges).toEqual([]);
    expect(world.open.find(({ range: of }) => formatRange(of) === '(*, m)')?.position.tokens).toEqual([token('', 'm')]);
  });

  test('is held against partitions that were told before the ledger was read: a close in between is no gap', async () => {
    let isClosed = false;
    world.whileListing = async () => {
      if (isClosed) return;
      isClosed = true;
      await world.close(range('', 'm'), {
        successors: [
          { target: range('', 'c'), token: token('', 'c') },
          { target: range('c', 'm'), token: token('c', 'm') },
        ],
      });
    };
    await world.ticks(2);
    expect(world.ranges).toEqual(['(*, c)', '[c, m)', '[m, *)']);
    expect(world.store.missing).toEqual([]);
  });

  test('is not repaired by what was read before somebody else changed the topology', async () => {
    await world.close(range('', 'm'), { successors: [{ target: range('', ''), token: token('', 'm') }] });
    await world.minutes(2);
    // While the recovery is on its way the other parent brings the last token.
    let isLate = true;
    world.store.fault = ({ method }) => {
      if (method !== 'commitTick' || !isLate) return undefined;
      isLate = false;
      return { delayMillis: 1_000 };
    };
    const ticking = world.invocation().tick(signal);
    await world.clock.advance(500);
    await world.close(range('m', ''), { successors: [{ target: range('', ''), token: token('m', '') }] });
    await world.clock.advance(5_000);
    await ticking;
    expect(world.ranges).toEqual(['(*, *)']);
    expect(world.store.missing).toEqual([]);
  });

  test('keeps its timers where the service does not tell its partitions', async () => {
    await world.close(range('', 'm'), { successors: [{ target: range('', 'c'), token: token('', 'c') }] });
    await world.minutes(10);
    world.listError = new Error('UNAVAILABLE');
    await world.minutes(11);
    expect(world.store.missing).toHaveLength(1);
    world.listError = undefined;
    await world.minutes(2);
    expect(world.ranges).toEqual(['(*, c)', '[c, m)', '[m, *)']);
  });

  test('is stopped by what holds for the whole table, and read again once that is gone, from where it was', async () => {
    const before = world.open;
    world.listError = new StreamFailedError(
      'status',
      { table: TABLE },
      { code: 'FAILED_PRECONDITION', message: 'off' },
    );
    world.look = { problems: ['turn the stream on'], warnings: [] };
    await world.ticks(1);
    expect(world.store.source).toMatchObject({ status: 'stopped', problem: 'turn the stream on' });
    world.listError = undefined;
    await world.minutes(2);
    expect(world.store.source?.status).toBe('stopped');
    world.look = { problems: [], warnings: [], retentionMillis: DAY };
    await world.minutes(1);
    expect(world.store.source).toMatchObject({ status: 'reading', generation: 1 });
    expect(world.open).toEqual(before);
  });

  test('is left alone while it is paused, and measured all the same', async () => {
    const read = await world.store.status.readPipeline(signal);
    await world.store.status.write(
      { version: read!.version, value: { ...read!.value, commits: 99, status: 'paused' } },
      signal,
    );
    const before = world.store.billed.writes;
    await world.minutes(10);
    expect(world.store.billed.writes).toBe(before);
    expect(world.gauge('changeStreamLag')).toBeGreaterThan(500);
  });

  test('tells how far it is behind, and how long until the service forgets what it has not read', async () => {
    await world.clock.advance(600_000);
    await world.ticks(1);
    expect(world.gauge('changeStreamLag')).toBeCloseTo(612, 0);
    expect(world.gauge('retentionHeadroom')).toBeCloseTo(DAY / 1000 - 612, 0);
    expect(world.gauge('partitionsOpen')).toBe(2);
    expect(world.gauge('partitionsFailing')).toBe(0);
    expect(world.gauge('unassignedChangeStreamPartitionLagMillis')).toBe(612_000);
  });

  test('notes another retention for its readers', async () => {
    world.look = { problems: [], warnings: [], retentionMillis: 2 * DAY };
    await world.minutes(6);
    expect(world.store.source?.retention?.millis).toBe(2 * DAY);
  });

  test('says once what may not be looked at', async () => {
    world.look = { problems: [], warnings: ['the profile was not looked at'] };
    const ticks = world.invocation();
    await world.clock.advance(600_000);
    await world.ticks(3, ticks);
    expect(world.runtime.lines.filter((line) => line.includes('the profile was not looked at'))).toHaveLength(1);
  });
});

describe('a bounded run', () => {
  beforeEach(async () => {
    world.asked = { options: '{}', endTime: 5_000n };
    await world.ticks(1);
    expect(world.store.source?.endTime).toBe(5_000n);
  });

  const end = (of: RowRange) => world.close(of, { isEnd: true }, true);

  test('is done once, when every partition is read to its end, and its documents are kept from then on', async () => {
    let done = 0;
    world.store.onTickCommit = ({ pipeline }) => {
      if (pipeline.value.status === 'done' && world.store.source?.status !== 'done') done += 1;
    };
    await end(range('', 'm'));
    await world.minutes(2);
    expect(world.store.source?.status).toBe('reading');
    await end(range('m', ''));
    await world.minutes(3);
    expect(world.store.source?.status).toBe('done');
    expect(done).toBe(1);
    for (const { state } of world.store.partitions)
      expect(state).toMatchObject({ kind: 'completed', keptUntil: expect.any(Number) as number });
  });

  test('reads no finished partition anew, however long the others take', async () => {
    await end(range('', 'm'));
    await world.minutes(45);
    expect(world.ranges).toEqual(['[m, *)']);
  });

  test('is not done while a part of the table is missing', async () => {
    await world.close(range('', 'm'), { successors: [{ target: range('', 'c'), token: token('', 'c') }] });
    await end(range('', 'c'));
    await end(range('m', ''));
    await world.minutes(5);
    expect(world.store.source?.status).toBe('reading');
    await world.minutes(20);
    await end(range('c', 'm'));
    await world.minutes(2);
    expect(world.store.source?.status).toBe('done');
  });

  test('is stopped where another end is asked for, and read again once that is set back', async () => {
    const { asked } = world;
    world.asked = { options: '{}', endTime: 6_000n };
    await world.minutes(2);
    expect(world.store.source).toMatchObject({ status: 'stopped', endTime: 5_000n });
    expect(world.store.source?.problem).toContain('the end of the run changed');
    world.asked = asked;
    await world.minutes(2);
    expect(world.store.source).toMatchObject({ status: 'reading', endTime: 5_000n });
  });

  test('that is done says so where another end is asked for, and reads nothing', async () => {
    await end(range('', 'm'));
    await end(range('m', ''));
    await world.minutes(2);
    world.asked = { options: '{}' };
    await world.minutes(1);
    expect(world.store.source).toMatchObject({ status: 'done' });
    expect(world.store.source?.problem).toContain('start the source anew');
  });
});
