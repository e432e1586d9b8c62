import { describe, expect, test } from 'vitest';
import { createLogger } from '../../../shared/base/logging.ts';
import { tableName } from '../../../shared/model/table-name.ts';
import { TargetCheck, type TargetCheckOptions } from '../../../shared/markers/target-check.ts';
import { type ProfileReading, type Target, targetProblems, type TargetFamily } from '../../../shared/markers/target.ts';
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
  named?: readonly string[];
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
      namedFamilies: given.named ?? ['f'],
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
    ['a missing family of data', { named: ['f', 'g'] }, /column family g of p\.i\.t does not exist/],
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
      declared: { f: 'raw' },
      named: ['f', 'g'],
    });
    expect(problems).toHaveLength(5);
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
    expect(admin.reads).toHaveLength(1);
    await clock.advance(3_000_000);
    await ask();
    await clock.advance(3_000_000);
    await ask();
    expect(admin.reads).toHaveLength(1);
    await clock.advance(3_700_000);
    await ask();
    expect(admin.reads).toHaveLength(2);
    expect(clock.pending).toBe(0);
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
    expect(await ask(['other'])).toMatchObject({
      reason: 'refused',
      message: expect.stringMatching(/other/) as string,
    });
  });

  test('asks again at every attempt while it is not sound', async () => {
    const { admin, ask } = checking();
    admin.families.delete('markers');
    expect(await ask()).toMatchObject({ kind: 'unfinished', reason: 'refused' });
    admin.families.set('markers', RAW);
    expect(await ask()).toBeUndefined();
  });

  test('that cannot be made lets nothing through, and says what it needs', async () => {
    const { admin, ask } = checking();
    admin.failure = new Error('GetTable on p.i.t answered PERMISSION_DENIED: no');
    expect(await ask()).toMatchObject({
      kind: 'unfinished',
      reason: 'transient',
      message: expect.stringMatching(
        /bigtable\.tables\.get and bigtable\.appProfiles\.get.*PERMISSION_DENIED/,
      ) as string,
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
    expect(await first).toEqual({ kind: 'unfinished', reason: 'deadline', message: 'the time is used up' });
    await clock.advance(20_000);
    expect(await second).toMatchObject({ reason: 'transient' });
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
