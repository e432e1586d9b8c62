import { beforeEach, describe, expect, test } from 'vitest';
import { readRunOptions } from '../../../shared/scan/run-options.ts';
import { failSplit, moveSplit } from '../../../shared/scan/runs/split-updates.ts';
import { NO_COUNTS, placeOf } from '../../../shared/scan/runs/split.ts';
import { rangesOf, RunWorld } from '../../support/run-world.ts';
import { progressTo } from '../../support/slot-world.ts';
import { run } from './fakes.ts';

const scan = (change: Readonly<Record<string, unknown>> = {}): object => ({
  kind: 'scan-source',
  ...{ table: 't', outputTopic: 'rows', appProfileId: 'boost' },
  ...change,
});

const configOf = (pipelines: object): string =>
  JSON.stringify({ defaults: { project: 'p', instance: 'i' }, pipelines });

const config = configOf({ exports: scan() });

let world: RunWorld;
beforeEach(() => {
  world = new RunWorld();
});

/** Runs a command as of the time of the world. */
const connector = (...args: readonly string[]): ReturnType<typeof run> => connectorWith({}, ...args);

const connectorWith = (given: Partial<Parameters<typeof run>[1]>, ...args: readonly string[]): ReturnType<typeof run> =>
  run(['scan', ...args], {
    config,
    now: world.clock.now(),
    scan: () => ({ runs: world.store.runs }),
    ...given,
  });

/** A run of five splits: two are done, one is being read by slot 1, one failed once, one waits. Its ids. */
async function reading(problem = 'ReadRows of p.i.t ended with NOT_FOUND: App profile not found: boost') {
  world.ranges = () => Promise.resolve(rangesOf(5));
  await connector('start', 'exports', '--run', 'r1');
  await world.tick(world.coordinator());
  await world.finish('r1', 2, 100);
  const session = await world.take(1, 'reader');
  const held = await world.claim(session, 'r1');
  await world.until(session.update(moveSplit(held, { ...progressTo('row-5', 7), counts: COUNTS })));
  const failing = await world.claim(session, 'r1');
  const failed = failSplit(failing, undefined, problem, world.clock.now(), () => 0.5);
  await world.until(session.update(failed));
  return { held, failing, session };
}

const COUNTS = { ...NO_COUNTS, rows: 1007, cells: 2014, bytes: 3_500_000, messages: 1005, skipped: 1, quarantined: 1 };

describe('start', () => {
  test('says the id of the run, alone on standard output, and how to see it', async () => {
    const { code, out, err } = await connector('start', 'exports');
    const id = new Date(world.clock.now()).toISOString();
    expect({ code, out }).toEqual({ code: 0, out: id });
    expect(err).toBe(
      `run ${id} of exports is started; see npm run connector -- scan status exports --run ${id} --watch`,
    );
    expect(world.run(id).state).toBe('planning');
  });

  test('freezes the configuration of the pipeline', async () => {
    await connector('start', 'exports', '--run', 'r1');
    const frozen = readRunOptions(await world.store.runs.readOptions('r1', world.ended.signal));
    expect(frozen).toMatchObject({
      table: { project: 'p', instance: 'i', table: 't' },
      appProfileId: 'boost',
      emission: { topic: 'projects/p/topics/rows' },
    });
  });

  test('twice under one id is one run', async () => {
    await connector('start', 'exports', '--run', 'r1');
    const { code, out, err } = await connector('start', 'exports', '--run', 'r1');
    expect({ code, out }).toEqual({ code: 0, out: 'r1' });
    expect(err).toMatch(/^run r1 of exports was started at .* and is planning$/);
    expect(await world.store.runs.listRuns(10, world.ended.signal)).toHaveLength(1);
  });

  test('under the id of a run that was cancelled ends with 1 and says so', async () => {
    await connector('start', 'exports', '--run', 'r1');
    await connector('cancel', 'exports');
    const { code, err } = await connector('start', 'exports', '--run', 'r1');
    expect(code).toBe(1);
    expect(err).toMatch(/is cancelled: start another one under another id$/);
  });

  test('is refused while another run is under way, and says what to do', async () => {
    await connector('start', 'exports', '--run', 'r1');
    const { code, out, err } = await connector('start', 'exports', '--run', 'r2');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('run r1 of exports, started at');
    expect(err).toContain(
      'end it with "npm run connector -- scan cancel exports --run r1", or set concurrentRuns to allow',
    );
  });

  test('is not refused where concurrentRuns is allow', async () => {
    const given = { config: configOf({ exports: scan({ concurrentRuns: 'allow' }) }) };
    await connectorWith(given, 'start', 'exports', '--run', 'r1');
    expect((await connectorWith(given, 'start', 'exports', '--run', 'r2')).code).toBe(0);
  });

  test.each(['a/b', '', '..', 'ä'])('refuses %j as the id of a run in one line, with the exit code 2', async (id) => {
    const { code, err } = await connector('start', 'exports', '--run', id);
    expect(code).toBe(2);
    expect(err).toMatch(/^error: --run takes up to 100 letters.*$/);
    expect(world.store.calls).toEqual([]);
  });
});

describe('start --wait', () => {
  /** Something that happens while the command waits, once for each look. */
  const meanwhile = (...steps: (() => Promise<unknown>)[]): Partial<Parameters<typeof run>[1]> => ({
    scan: () => ({
      runs: {
        ...world.store.runs,
        readSlots: async (signal: AbortSignal) => {
          const slots = await world.store.runs.readSlots(signal);
          await steps.shift()?.();
          return slots;
        },
      },
    }),
  });

  test('follows the run to its end, reports it, and ends with 0 where it is done', async () => {
    const given = meanwhile(() => world.readAll('r1'));
    const { code, out } = await connectorWith(given, 'start', 'exports', '--run', 'r1', '--wait');
    expect(code).toBe(0);
    expect(out).toMatch(/^r1\nexports: run r1 is done, /);
    expect(out).toContain('30 rows, 0 cells');
  });

  test('ends with 1 where the run fails, and reports why', async () => {
    world.ranges = () => Promise.reject(new Error('SampleRowKeys of p.i.t ended with PERMISSION_DENIED: no'));
    const given = meanwhile(() => world.tick(world.coordinator()));
    const { code, out } = await connectorWith(given, 'start', 'exports', '--run', 'r1', '--wait');
    expect(code).toBe(1);
    expect(out).toContain('run r1 is failed');
    expect(out).toContain(
      'missing permission on the table; fix it with: gcloud bigtable tables add-iam-policy-binding t',
    );
  });

  test('ends at Ctrl-C and leaves the run as it is', async () => {
    const stop = new AbortController();
    const given = {
      signal: stop.signal,
      ...meanwhile(() => {
        stop.abort(new Error('Ctrl-C'));
        return Promise.resolve();
      }),
    };
    const { code, err } = await connectorWith(given, 'start', 'exports', '--run', 'r1', '--wait');
    expect(code).toBe(130);
    expect(err).toContain('run r1 of exports goes on');
    expect(world.run('r1').state).toBe('planning');
  });
});

describe('status', () => {
  test('tells the plan, the splits, what was read, the slots and the last problems, with the command that fixes them', async () => {
    const { failing, held } = await reading();
    await world.clock.advance(5_000);
    const { code, out } = await connector('status', 'exports');
    expect(code).toBe(0);
    const plan = world.run('r1').plan?.id ?? '';
    const lines = out.split('\n').map((line) => line.replace(/\d+\.\d s/g, 'N s').replace(/(?<=\S) {2,}/g, '  '));
    expect(lines).toEqual([
      `exports: run r1 is reading, started ${startedText()} (N s ago), plan ${plan}`,
      '  [████████████████▒▒▒▒▒▒▒▒················] 2 of 5 splits done, 1 being read, 2 waiting',
      '  1,207 rows, 2,014 cells, 3.3 MiB read; 1,005 messages published',
      '  1 row skipped, 1 in quarantine',
      expect.stringMatching(/^ {2}\d+ rows\/s, .*\/s; about N s left, by splits$/) as string,
      '  SLOT  OWNER  EPOCH  LEASE  SPLITS  ROWS',
      '  0  nobody  1  0  0',
      '  1  reader  1  for N s more  1  1,007',
      '  slot 1 has still to read [row-5, z)',
      `  split ${failing} [prefix-000003, prefix-000004) failed once; it is tried again in N s`,
      '    problem: ReadRows of p.i.t ended with NOT_FOUND: App profile not found: boost',
      '    unknown app profile; fix it with: gcloud bigtable app-profiles create boost --instance i --project p --route-any --description scans',
    ]);
    expect(held).not.toBe(failing);
  });

  const startedText = (): string => new Date(world.run('r1').startedAt).toISOString().replace(/\.\d+Z/, 'Z');

  test('of a run that reads shows no row key with --no-ranges', async () => {
    await reading('the row secret-7 has no form: its value secret-8 is no number');
    for (const args of [[], ['--json']]) {
      const { out } = await connector('status', 'exports', '--no-ranges', ...args);
      expect(out).toContain('a row has no form');
      expect(out).not.toMatch(/secret|prefix-|row-5/);
    }
    expect((await connector('status', 'exports')).out).toContain('the row secret-7 has no form');
  });

  test('as JSON, with what the report says in words', async () => {
    const { failing, held } = await reading();
    const { out } = await connector('status', 'exports', '--json');
    expect(JSON.parse(out)).toMatchObject({
      pipeline: 'exports',
      run: { id: 'r1', state: 'reading', plan: { splits: 5 } },
      splits: { total: 5, done: 2, failed: 0, held: 1, waiting: 2 },
      counts: { ...COUNTS, rows: 1207 },
      isUnattended: false,
      slots: [
        { slot: 0, owner: '', splits: [] },
        { slot: 1, owner: 'reader', splits: [{ id: held, range: '[row-5, z)', counts: COUNTS }] },
      ],
      failing: [{ id: failing, failures: 1, cause: 'unknown app profile', state: { kind: 'waiting' } }],
    });
  });

  test('says that a lease ran out, and that nobody reads', async () => {
    await reading();
    world.store.fault = ({ method }) => (method === 'commitSlot' ? 'error-before' : undefined);
    await world.clock.advance(200_000);
    const { out } = await connector('status', 'exports');
    expect(out).toMatch(/1 {5}reader {2}1 {6}ran out/);
    expect(out).toContain('no slot works on it: are the scheduler jobs of readScan there, and not paused?');
  });

  test('is of the last run where none is under way, of the named one, or says that there is none', async () => {
    expect((await connector('status', 'exports')).out).toBe(
      'exports has no run yet: start one with npm run connector -- scan start exports',
    );
    for (const id of ['r1', 'r2']) {
      await world.clock.advance(1_000);
      await connector('start', 'exports', '--run', id);
      await world.readAll(id);
    }
    expect((await connector('status', 'exports')).out).toMatch(/^exports: run r2 is done/);
    expect((await connector('status', 'exports', '--run', 'r1')).out).toMatch(/^exports: run r1 is done/);
    const { code, err } = await connector('status', 'exports', '--run', 'r3');
    expect({ code, err }).toEqual({
      code: 1,
      err: 'error: exports has no run "r3": see npm run connector -- scan list exports',
    });
  });

  test('of a run that counts shows each range and prefix once it has ended, and none with --no-ranges', async () => {
    const counting = configOf({
      exports: { ...scan({ form: 'count', prefixes: ['a', 'ab'] }), outputTopic: undefined },
    });
    await connectorWith({ config: counting }, 'start', 'exports', '--run', 'r1');
    const options = readRunOptions(await world.store.runs.readOptions('r1', world.ended.signal));
    world.ranges = () => Promise.resolve(options.ranges);
    const status = (...args: readonly string[]) =>
      connectorWith({ config: counting, scan: () => ({ runs }) }, 'status', 'exports', ...args);
    const runs = {
      ...world.store.runs,
      // Splits end where they were cut, however far they came.
      readSplits: async (id: string, ids: readonly string[], signal: AbortSignal) =>
        (await world.store.runs.readSplits(id, ids, signal)).map((split) => ({
          ...split,
          range: options.ranges[placeOf(split.id)] ?? split.range,
        })),
    };
    expect((await status()).out).not.toContain('RANGE');
    await world.readAll('r1');
    const { out } = await status();
    expect(out).toMatch(/RANGE +ROWS +CELLS +BYTES\n +\[a, b\) +30 .*\n +\[ab, ac\) +10 /);
    expect(JSON.parse((await status('--json')).out)).toMatchObject({
      rangeCounts: [
        { range: '[a, b)', rows: 30 },
        { range: '[ab, ac)', rows: 10 },
      ],
    });
    expect((await status('--no-ranges')).out).not.toContain('RANGE');
  });

  test('watches until the run ends', async () => {
    await connector('start', 'exports', '--run', 'r1');
    const waits: number[] = [];
    let looks = 0;
    const runs = {
      ...world.store.runs,
      readRun: async (id: string, signal: AbortSignal) => {
        looks += 1;
        if (looks === 3) await world.readAll('r1');
        return world.store.runs.readRun(id, signal);
      },
    };
    const { code, out } = await connectorWith({ waits, scan: () => ({ runs }) }, 'status', 'exports', '-w', '3');
    expect(code).toBe(0);
    expect(waits).toEqual([3_000, 3_000]);
    expect(out.match(/^exports: run r1 is (being planned|done)/gm)).toEqual([
      'exports: run r1 is being planned',
      'exports: run r1 is being planned',
      'exports: run r1 is done',
    ]);
  });
});

describe('cancel', () => {
  test('cancels the run that is under way, and once more under its id', async () => {
    await connector('start', 'exports', '--run', 'r1');
    const { code, out } = await connector('cancel', 'exports');
    expect(code).toBe(0);
    expect(out).toMatch(/^run r1 of exports is cancelled; slots that read it stop at their next look/);
    expect(world.run('r1').state).toBe('cancelled');
    expect((await connector('cancel', 'exports', '--run', 'r1')).code).toBe(0);
  });

  test.each([
    ['no run is under way', [], 'no run of exports is under way'],
    ['the run ended', ['--run', 'r1'], 'run r1 of exports is done since'],
    ['there is no such run', ['--run', 'r9'], 'exports has no run "r9"'],
  ] as const)('says that %s', async (_case, args, message) => {
    await connector('start', 'exports', '--run', 'r1');
    await world.readAll('r1');
    const { code, err } = await connector('cancel', 'exports', ...args);
    expect(code).toBe(1);
    expect(err).toContain(message);
  });

  test('asks which one where several are under way', async () => {
    const given = { config: configOf({ exports: scan({ concurrentRuns: 'allow' }) }) };
    for (const id of ['r1', 'r2']) await connectorWith(given, 'start', 'exports', '--run', id);
    const { code, err } = await connector('cancel', 'exports');
    expect(code).toBe(1);
    expect(err).toContain('several runs of exports are under way: name one with --run (r1, r2)');
  });
});

describe('list', () => {
  async function three(): Promise<void> {
    await connector('start', 'exports', '--run', 'r1');
    await world.readAll('r1');
    await world.clock.advance(60_000);
    await connector('start', 'exports', '--run', 'r2');
    await connector('cancel', 'exports');
    await world.clock.advance(60_000);
    await connector('start', 'exports', '--run', 'r3');
  }

  test('shows the runs, the latest first, with what they read', async () => {
    await three();
    const { code, out } = await connector('list', 'exports');
    expect(code).toBe(0);
    const lines = out.split('\n').map((line) => line.split(/ {2,}/));
    expect(lines[0]).toEqual(['RUN', 'STATE', 'STARTED', 'TOOK', 'SPLITS', 'ROWS', 'BYTES', 'PROBLEM']);
    expect(lines.slice(1).map(([id, state]) => [id, state])).toEqual([
      ['r3', 'planning'],
      ['r2', 'cancelled'],
      ['r1', 'done'],
    ]);
    expect(out).toMatch(/^r1 .* 3 +30 +0 B$/m);
  });

  test('shows as many as are asked for, and JSON', async () => {
    await three();
    const { out } = await connector('list', 'exports', '--limit', '2', '--json');
    expect(JSON.parse(out)).toMatchObject([
      { id: 'r3', state: 'planning' },
      { id: 'r2', state: 'cancelled' },
    ]);
  });

  test('says how to start one where there is none', async () => {
    expect((await connector('list', 'exports')).out).toContain('exports has no run yet: start one with');
    expect((await connector('list', 'exports', '--json')).out).toBe('[]');
  });
});

describe('the verbs of scan', () => {
  test.each(['start', 'status', 'cancel', 'list'])('%s takes a scan-source alone', async (verb) => {
    const sink = { kind: 'bulk-sink', topic: 'orders', table: 't', serializer: 'entry' };
    const given = { config: configOf({ orders: sink }) };
    const { code, err } = await connectorWith(given, verb, 'orders');
    expect({ code, err }).toEqual({
      code: 1,
      err: 'error: the pipeline orders is a bulk-sink, which has no runs: name a scan-source',
    });
  });

  test.each(['start', 'status', 'cancel', 'list'])('%s refuses a wrong option in one line', async (verb) => {
    const { code, out, err } = await connector(verb, 'exports', '--nonsense');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err.split('\n')).toHaveLength(1);
    expect(err).toContain('--nonsense');
  });

  test.each(['start', 'status', 'cancel', 'list'])('%s prints help with examples', async (verb) => {
    const { code, out } = await connector(verb, '--help');
    expect(code).toBe(0);
    expect(out).toContain(`$ npm run connector -- scan ${verb} exports`);
  });
});
