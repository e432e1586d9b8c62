import { beforeEach, describe, expect, test } from 'vitest';
import { nanosOf } from '../../../shared/change-stream/ledger/position-of.ts';
import type { LedgerWrite } from '../../../shared/change-stream/ledger/writes.ts';
import type { Partition } from '../../../shared/change-stream/ledger/partition.ts';
import type { Source } from '../../../shared/change-stream/source.ts';
import { merge, missing } from '../../support/ledgers.ts';
import { MemoryChangeStreamStore } from '../../support/memory-change-stream-store.ts';
import { held, partition, range, token } from '../../support/partitions.ts';
import { run } from './fakes.ts';

const NOW = Date.UTC(2026, 0, 31, 3);

const clock = { now: () => NOW, monotonic: () => NOW, after: () => () => undefined, soon: queueMicrotask };

const config = JSON.stringify({
  defaults: { project: 'p', instance: 'i' },
  pipelines: {
    changes: { kind: 'change-stream-source', table: 't', outputTopic: 'changes', appProfileId: 'one' },
    orders: { kind: 'bulk-sink', topic: 'orders', table: 't', serializer: 'entry' },
  },
});

const { signal } = new AbortController();

let store: MemoryChangeStreamStore;
beforeEach(() => {
  store = new MemoryChangeStreamStore(clock);
});

const connector = (...args: readonly string[]): ReturnType<typeof run> => connectorWith({}, ...args);

const connectorWith = (given: Partial<Parameters<typeof run>[1]>, ...args: readonly string[]): ReturnType<typeof run> =>
  run(['change-stream', ...args], { config, now: NOW, changeStream: () => ({ status: store.status }), ...given });

const ago = (seconds: number): bigint => nanosOf(NOW - seconds * 1000);

async function stored(change: Partial<Source> = {}, changes: readonly LedgerWrite[] = []): Promise<void> {
  const value = {
    ...({ commits: 1, status: 'reading', generation: 1, options: '{}', startTime: ago(3600), dead: [] } as const),
    ...{ retention: { millis: 24 * 3_600_000, fetchedAt: NOW }, lease: { owner: '', epoch: 1, expiresAt: 0 } },
    ...change,
  };
  await store.coordinator.commit({ pipeline: { version: undefined, value }, changes }, signal);
}

const made = (each: Partition): LedgerWrite => ({ kind: 'new-partition', partition: each });

/** One partition is read, one waits, one rests; a merge waits for a token, and a part is missing. */
async function reading(problem = 'Publish to projects/p/topics/changes: NOT_FOUND: no topic'): Promise<void> {
  await stored({}, [
    made(partition('aaaaaaaaaaaaaaaa', held('', 'bound-1', [], ago(90)), { kind: 'held', slot: 0, epoch: 1 })),
    made(partition('bbbbbbbbbbbbbbbb', held('bound-1', 'bound-2', [], ago(30)))),
    made(
      partition('cccccccccccccccc', held('bound-2', 'bound-3', [], ago(60), { failures: 2, problem }), {
        ...{ kind: 'resting', notBefore: NOW + 9_000 },
      }),
    ),
    {
      kind: 'merge',
      merge: merge(range('bound-3', 'bound-5'), [token('bound-3', 'bound-4')], ago(20)),
      version: undefined,
    },
    { kind: 'missing', missing: missing('bound-4', '', NOW - 60_000, ago(120)), version: undefined },
  ]);
  const value = { owner: 'reader', epoch: 1, attempt: 1, units: { aaaaaaaaaaaaaaaa: held('', 'bound-1', [], ago(3)) } };
  await store.slots.commit({ slot: 0, version: undefined, value, changes: [] }, signal);
}

describe('status', () => {
  test('tells the source, its partitions, merges, missing parts and slots', async () => {
    await reading();
    const { code, out } = await connector('status', 'changes');
    expect(code).toBe(0);
    expect(out.split('\n').map((line) => line.replace(/(?<=\S) {2,}/g, '  '))).toEqual([
      'changes: is reading, start 1, reads changes from 2026-01-31T02:00:00.000000000Z, the service keeps them for 24.0 h',
      '  low watermark 2026-01-31T02:58:00.000000000Z, 2 min 0 s behind; headroom 24.0 h until the service forgets what comes next',
      '  3 partitions to read: 1 being read, 1 waiting, 1 resting',
      '  PARTITION  RANGE  STATE  SLOT  LAG  HEADROOM  FAILURES',
      '  cccccccccccc  [bound-2, bound-3)  resting for 9.0 s  1 min 0 s  24.0 h  2',
      '  bbbbbbbbbbbb  [bound-1, bound-2)  waiting  30.0 s  24.0 h  0',
      '  aaaaaaaaaaaa  (*, bound-1)  held  0  3.0 s  24.0 h  0',
      '  partition cccccccccccc: Publish to projects/p/topics/changes: NOT_FOUND: no topic',
      '  merge [bound-3, bound-5): 1 token of [bound-3, bound-4) parked until the others come, 20.0 s behind',
      '  missing [bound-4, *): nobody reads it since 1 min 0 s, 2 min 0 s behind; read on from tokens in 1 min 0 s where they wait, anew without in 19 min 0 s',
      '  SLOT  OWNER  EPOCH  LEASE  PARTITIONS',
      '  0  reader  1  for 1 min 0 s more  1',
    ]);
  });

  test('shows no row key but as the bound of a range, and none at all with --no-ranges', async () => {
    await reading('the change of row secret-7 has no form: secret-8');
    for (const more of [[], ['--json']]) {
      const shown = await connector('status', 'changes', ...more);
      expect(shown.out).toMatch(/bound-2/);
      expect(shown.out).toContain('a change has no form: the log of readChangeStream names the row and why');
      const hidden = await connector('status', 'changes', '--no-ranges', ...more);
      expect(hidden.out).toContain('a change has no form');
      expect(shown.out + hidden.out).not.toContain('secret');
      expect(hidden.out).not.toContain('bound-');
    }
  });

  test('as JSON tells the same, and no token', async () => {
    await reading();
    const { out } = await connector('status', 'changes', '--json');
    expect(JSON.parse(out)).toMatchObject({
      ...{ pipeline: 'changes', now: NOW, lagMillis: 120_000, lowWatermark: '2026-01-31T02:58:00.000000000Z' },
      source: { status: 'reading', generation: 1, startTime: '2026-01-31T02:00:00.000000000Z' },
      partitions: [
        { id: 'cccccccccccccccc', range: '[bound-2, bound-3)', state: 'resting', failures: 2, restMillis: 9_000 },
        { id: 'bbbbbbbbbbbbbbbb', state: 'waiting', lagMillis: 30_000 },
        { id: 'aaaaaaaaaaaaaaaa', state: 'held', slot: 0, lagMillis: 3_000 },
      ],
      merges: [{ target: '[bound-3, bound-5)', parked: ['[bound-3, bound-4)'], tokens: 1 }],
      missing: [{ range: '[bound-4, *)', missingMillis: 60_000, tokenlessMillis: 19 * 60_000 }],
      slots: [{ slot: 0, owner: 'reader', epoch: 1, leaseMillis: 60_000, partitions: 1 }],
    });
    expect(out).not.toContain('bound-3-bound-4');
  });

  test('of many partitions shows the 20 that lag most, and a line for the rest', async () => {
    const name = (place: number): string => (place === 0 || place === 25 ? '' : `k${String(place).padStart(2, '0')}`);
    const many = Array.from({ length: 25 }, (_, place) =>
      made(partition(`p${place}`, held(name(place), name(place + 1), [], ago(place)))),
    );
    await stored({}, many);
    const { out } = await connector('status', 'changes');
    expect(out.match(/^ {2}p\d+ /gm)).toHaveLength(20);
    expect(out).toMatch(/PARTITION.*\n {2}p24 /);
    expect(out).toContain('  and 5 more, which lag 4.0 s at most; 0 of them failed last');
  });

  test('says why a source is stopped', async () => {
    await stored({ status: 'stopped', problem: 'GetTable: t has no change stream' });
    const { code, out } = await connector('status', 'changes');
    expect(code).toBe(0);
    expect(out).toContain('changes: is stopped');
    expect(out).toContain('  problem: GetTable: t has no change stream');
  });

  test('says that a source is not started yet', async () => {
    expect((await connector('status', 'changes')).out).toMatch(/^changes is not started yet: coordinate starts it/);
    expect((await connector('status', 'changes', '--json')).out).toBe(
      JSON.stringify({ pipeline: 'changes', now: NOW }),
    );
  });

  test('watches until a bounded source is done', async () => {
    await stored();
    const waits: number[] = [];
    let looks = 0;
    const status = {
      ...store.status,
      readPipeline: async (ended: AbortSignal) => {
        looks += 1;
        const read = await store.status.readPipeline(ended);
        return read && looks === 3 ? { ...read, value: { ...read.value, status: 'done' as const } } : read;
      },
    };
    const { code, out } = await connectorWith(
      { waits, changeStream: () => ({ status }) },
      'status',
      'changes',
      '-w',
      '3',
    );
    expect(code).toBe(0);
    expect(waits).toEqual([3_000, 3_000]);
    expect(out.match(/^changes: is \w+/gm)).toEqual(['changes: is reading', 'changes: is reading', 'changes: is done']);
  });
});

describe('pause and resume', () => {
  test('say what they did and what happens next', async () => {
    await stored();
    const paused = await connector('pause', 'changes');
    expect(paused).toMatchObject({ code: 0, err: '' });
    expect(paused.out).toMatch(/^changes is paused: slots see it at their next look, within about 5 s/);
    expect(store.source?.status).toBe('paused');
    expect(await connector('pause', 'changes')).toMatchObject({
      ...{ code: 0, out: expect.stringContaining('changes is paused already') as string },
    });
    const resumed = await connector('resume', 'changes');
    expect(resumed).toMatchObject({ code: 0, err: '' });
    expect(resumed.out).toMatch(/^changes is reading: its slots ended with the pause, and start again within a minute/);
    expect(store.source?.status).toBe('reading');
    expect((await connector('resume', 'changes')).out).toBe(
      'changes is reading and not paused: nothing is to be resumed',
    );
  });

  test('of a source without partitions let it start', async () => {
    const value = { commits: 1, status: 'paused', generation: 0, options: '{}', dead: [] } as const;
    const lease = { owner: '', epoch: 0, expiresAt: 0 };
    await store.coordinator.commit({ pipeline: { version: undefined, value: { ...value, lease } } }, signal);
    expect((await connector('resume', 'changes')).out).toMatch(/^changes is starting: coordinate makes its partitions/);
    expect(store.source?.status).toBe('starting');
  });

  test.each(['pause', 'resume'])(
    '%s says with the exit code 1 that the source is not there, done or stopped',
    async (verb) => {
      const absent = await connector(verb, 'changes');
      expect(absent.code).toBe(1);
      expect(absent.err).toContain('changes is not started yet');
      await stored({ status: 'done' });
      expect(await connector(verb, 'changes')).toEqual({
        ...{ code: 1, out: '', err: `error: changes is done: nothing is left to ${verb}` },
      });
      store = new MemoryChangeStreamStore(clock);
      await stored({ status: 'stopped', problem: 'GetTable: no table' });
      const stopped = await connector(verb, 'changes');
      expect(stopped.code).toBe(1);
      expect(stopped.err).toContain('changes is stopped: GetTable: no table. Nothing of it is read');
    },
  );

  test('say with the exit code 1 that others wrote before every try', async () => {
    await stored();
    store.fault = ({ method }) => (method === 'write' ? 'conflict' : undefined);
    const { code, err } = await connector('pause', 'changes');
    expect({ code, err }).toEqual({
      code: 1,
      err: 'error: others wrote the state of changes before every try: try again',
    });
  });
});

describe('the verbs of change-stream', () => {
  test.each(['status', 'pause', 'resume'])('%s takes a change-stream-source alone', async (verb) => {
    const { code, err } = await connector(verb, 'orders');
    expect({ code, err }).toEqual({
      code: 1,
      err: 'error: the pipeline orders is a bulk-sink, which reads no change stream: name a change-stream-source',
    });
  });

  test.each(['status', 'pause', 'resume'])('%s refuses a wrong option in one line', async (verb) => {
    const { code, out, err } = await connector(verb, 'changes', '--nonsense');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err.split('\n')).toHaveLength(1);
    expect(err).toContain('--nonsense');
  });

  test.each(['status', 'pause', 'resume'])('%s prints help with examples', async (verb) => {
    const { code, out } = await connector(verb, '--help');
    expect(code).toBe(0);
    expect(out).toContain(`$ npm run connector -- change-stream ${verb} changes`);
  });
});
