import { describe, expect, test } from 'vitest';
import { createLogger } from '../../../shared/base/logging.ts';
import { tableName } from '../../../shared/model/table-name.ts';
import { TargetCheck, type TargetCheckOptions } from '../../../shared/markers/target-check.ts';
import {
  missingFamilies,
  type ProfileReading,
  type Target,
  targetProblems,
  type TargetFamily,
} from '../../../shared/markers/target.ts';
import { TargetRefusedError } from '../../../shared/markers/ports.ts';
import { FakeTargetAdmin } from '../../support/fake-target-admin.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { testRuntime } from '../../support/runtime.ts';

const TARGET: Target = { table: tableName('p', 'i', 't'), appProfileId: 'one', markerFamily: 'markers' };
const TRANSACTIONAL: ProfileReading = { kind: 'found', isSingleCluster: true, isTransactional: true };
const RAW: TargetFamily = { type: 'raw', keptMillis: Infinity };
const DAY = 24 * 3_600_000;

const problemsOf = (given: {
  profile?: ProfileReading;
  families?: Readonly<Record<string, TargetFamily>> | undefined;
  horizonDays?: number;
  declared?: Readonly<Record<string, 'raw' | 'int64-sum'>>;
}): string[] =>
  targetProblems(
    TARGET,
    {
      profile: given.profile ?? TRANSACTIONAL,
      families:
        'families' in given && !given.families
          ? undefined
          : new Map(Object.entries(given.families ?? { markers: RAW, f: RAW })),
    },
    {
      ...(given.horizonDays !== undefined && { markerHorizonMillis: given.horizonDays * DAY }),
      declaredFamilies: given.declared ?? {},
    },
  );

describe('a target', () => {
  test('with a transactional profile of one cluster and its families is sound', () => {
    expect(problemsOf({})).toEqual([]);
    expect(problemsOf({ profile: { kind: 'unchecked' } })).toEqual([]);
  });

  test.each([
    [
      'no profile',
      { profile: { kind: 'missing' } },
      /profile one of p\.i does not exist: gcloud bigtable app-profiles create one/,
    ],
    [
      'a profile of several clusters',
      { profile: { kind: 'found', isSingleCluster: false, isTransactional: false } },
      /several clusters.* --route-to=CLUSTER --transactional-writes/,
    ],
    [
      'a profile without transactions',
      { profile: { kind: 'found', isSingleCluster: true, isTransactional: false } },
      /single-row transactions: gcloud bigtable app-profiles update one --project=p --instance=i/,
    ],
    ['no table', { families: undefined }, /table p\.i\.t does not exist/],
    ['no marker family', { families: { f: RAW } }, /marker family markers .* createfamily t markers/],
    [
      'a typed marker family',
      { families: { f: RAW, markers: { type: 'int64-sum', keptMillis: Infinity } } },
      /type int64-sum.*untyped family/,
    ],
    [
      'a marker family that is collected',
      { families: { f: RAW, markers: { type: 'raw', keptMillis: 7 * DAY } } },
      /age of 604800 s.* setgcpolicy t markers never/,
    ],
    [
      'a marker family that is collected before the horizon',
      { horizonDays: 8, families: { f: RAW, markers: { type: 'raw', keptMillis: 7 * DAY } } },
      /maxage=691200s/,
    ],
    ['a missing declared family', { declared: { g: 'raw' } }, /column family g of p\.i\.t does not exist/],
    [
      'a declared family of another type',
      { declared: { f: 'int64-sum' } },
      /column family f of p\.i\.t is of the type raw, but the mapping declares int64-sum/,
    ],
  ] as const)('with %s is not, and is told what to do', (_what, given, words) => {
    const problems = problemsOf(given);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(words);
  });

  test('whose markers are kept for as long as the horizon is sound', () => {
    const kept = (days: number) => ({ f: RAW, markers: { type: 'raw', keptMillis: days * DAY } });
    expect(problemsOf({ horizonDays: 8, families: kept(8) })).toEqual([]);
    expect(problemsOf({ horizonDays: 8 })).toEqual([]);
  });

  test('is told everything that is wrong with it at once, each thing once', () => {
    const problems = problemsOf({
      profile: { kind: 'missing' },
      families: { markers: { type: 'int64-sum', keptMillis: 0 } },
      declared: { f: 'raw', g: 'raw' },
    });
    expect(problems).toHaveLength(5);
  });

  test('lacks those of the families of records that are not there, and none where there is no table', () => {
    const families = new Map([['f', RAW]]);
    expect(missingFamilies(families, ['f', 'g', 'h'])).toEqual(['g', 'h']);
    expect(missingFamilies(undefined, ['f'])).toEqual([]);
  });
});

describe('the check of a target', () => {
  const checking = (options: Partial<TargetCheckOptions> = {}) => {
    const admin = new FakeTargetAdmin();
    const clock = new ManualClock();
    const lines: string[] = [];
    const logger = createLogger({}, (line) => lines.push(line));
    const check = new TargetCheck(
      { declaredFamilies: {}, idleMillis: 3_600_000, ...options },
      { admin, runtime: testRuntime({ clock, logger }) },
    );
    const ask = (families: readonly string[] = ['f'], signal = new AbortController().signal) =>
      check.check(TARGET, families, signal);
    return { admin, clock, check, ask, lines };
  };

  test('reads it once for everybody, until it was idle', async () => {
    const { admin, clock, ask } = checking();
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([undefined, undefined, undefined]);
    await clock.advance(250_000);
    await ask();
    expect(admin.reads).toHaveLength(1);
    await clock.advance(3_700_000);
    await ask();
    expect(admin.reads).toHaveLength(2);
    expect(clock.pending).toBe(0);
  });

  /** A week of a message a minute; ten minutes from its start something is changed. */
  async function askEveryMinute(
    { clock, ask }: Pick<ReturnType<typeof checking>, 'clock' | 'ask'>,
    minutes: number,
    change?: () => void,
  ): Promise<number | undefined> {
    for (let minute = 0; minute < minutes; minute += 1) {
      if (minute === 10) change?.();
      if (await ask()) return minute;
      await clock.advance(60_000);
    }
    return undefined;
  }

  test('reads it again every five minutes of its use, and stops writing after a change for the worse', async () => {
    const harness = checking();
    const { admin } = harness;
    const stoppedAt = await askEveryMinute(harness, 7 * 24 * 60, () => {
      admin.families.set('markers', { type: 'raw', keptMillis: DAY });
    });
    expect(stoppedAt).toBeGreaterThanOrEqual(10);
    expect(stoppedAt).toBeLessThanOrEqual(16);
    expect(await harness.ask()).toMatchObject({
      kind: 'target',
      refusal: { reason: 'refused', message: expect.stringMatching(/age of 86400 s/) as string },
    });
  });

  test('holds up no write while it reads again, and goes by the last reading where it cannot', async () => {
    const harness = checking();
    const { admin, clock, ask, lines } = harness;
    expect(await askEveryMinute(harness, 30, () => (admin.failure = new Error('UNAVAILABLE')))).toBeUndefined();
    expect(lines.filter((line) => line.includes('could not be read again')).length).toBeGreaterThan(5);
    admin.failure = undefined;
    admin.isSilent = true;
    await clock.advance(60_000);
    expect(await ask()).toBeUndefined();
    expect(await ask()).toBeUndefined();
    await clock.advance(60_000);
    expect(clock.pending).toBe(0);
  });

  test('holds up what names a family that is missing, and nothing else', async () => {
    const { ask } = checking();
    const found = await ask(['f', 'g', 'h']);
    expect(found?.kind === 'families' && [...found.refusals.keys()]).toEqual(['g', 'h']);
    expect(found?.kind === 'families' && found.refusals.get('g')).toMatchObject({
      reason: 'missing-family',
      message: expect.stringMatching(/column family g of p\.i\.t does not exist: create it/) as string,
    });
  });

  test('of a family that stays missing reads the target every ten seconds, however often it is asked', async () => {
    const { admin, clock, ask } = checking();
    for (let second = 0; second < 60; second += 1) {
      expect(await ask(['f', 'g'])).toMatchObject({ kind: 'families' });
      await clock.advance(1000);
    }
    expect(admin.reads.length).toBeLessThanOrEqual(1 + 60 / 10 + 1);
    await clock.advance(10_000);
    admin.families.set('g', RAW);
    expect(await ask(['f', 'g'])).toBeUndefined();
  });

  test('holds up everything where a family that the mapping declares is missing', async () => {
    const { ask } = checking({ declaredFamilies: { g: 'raw' } });
    expect(await ask(['f'])).toMatchObject({ kind: 'target', refusal: { reason: 'refused' } });
  });

  test('reads it again after a write to it failed', async () => {
    const { admin, check, ask } = checking();
    await ask();
    check.forget(TARGET);
    await ask();
    expect(admin.reads).toHaveLength(2);
  });

  test('reads it again for a family that was not there before', async () => {
    const { admin, ask } = checking();
    await ask();
    admin.families.set('new', RAW);
    expect(await ask(['new'])).toBeUndefined();
    expect(await ask(['other'])).toMatchObject({ kind: 'families' });
  });

  test('reads it once for all who ask together for a family that was just made, and lets all of them through', async () => {
    const { admin, ask } = checking();
    await ask();
    admin.families.set('new', RAW);
    expect(await Promise.all([ask(['new']), ask(['new']), ask(['new'])])).toEqual([undefined, undefined, undefined]);
    expect(admin.reads).toHaveLength(2);
  });

  test('asks again at every attempt while it is not sound', async () => {
    const { admin, ask } = checking();
    admin.families.delete('markers');
    expect(await ask()).toMatchObject({ kind: 'target', refusal: { kind: 'unfinished', reason: 'refused' } });
    admin.families.set('markers', RAW);
    expect(await ask()).toBeUndefined();
  });

  test.each([
    ['cannot be made now', new Error('GetTable on p.i.t answered UNAVAILABLE: no'), 'transient'],
    ['is not permitted', new TargetRefusedError('GetTable on p.i.t answered PERMISSION_DENIED: no'), 'refused'],
  ] as const)('that %s lets nothing through, and says what it needs', async (_what, failure, reason) => {
    const { admin, ask } = checking();
    admin.failure = failure;
    expect(await ask()).toMatchObject({
      kind: 'target',
      refusal: {
        kind: 'unfinished',
        reason,
        message: expect.stringMatching(/bigtable\.tables\.get and bigtable\.appProfiles\.get.*answered/) as string,
      },
    });
    admin.failure = undefined;
    expect(await ask()).toBeUndefined();
  });

  test('ends with its invocation, and with its own time', async () => {
    const { admin, clock, ask } = checking();
    admin.isSilent = true;
    const controller = new AbortController();
    const first = ask(['f'], controller.signal);
    const second = ask();
    controller.abort(new Error('the time is used up'));
    const outOfTime = { kind: 'unfinished', reason: 'deadline', message: 'the time is used up' };
    expect(await first).toEqual({ kind: 'target', refusal: outOfTime });
    await clock.advance(20_000);
    expect(await second).toMatchObject({ refusal: { reason: 'transient' } });
    expect(clock.pending).toBe(0);
  });

  test('warns once where an emulator knows no profiles', async () => {
    const { admin, check, ask, lines } = checking();
    admin.profile = { kind: 'unchecked' };
    await ask();
    check.forget(TARGET);
    await ask();
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/"severity":"WARNING".*cannot be checked/);
  });
});
