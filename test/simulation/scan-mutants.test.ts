import fc from 'fast-check';
import { expect, test } from 'vitest';
import { waitingSplit } from '../../shared/scan/runs/split-updates.ts';
import { schedules } from './scan/schedule.ts';
import { type Mutant, runSchedule } from './scan/world.ts';

/** Faults that the simulation of a scan must find, or its being green would say nothing. */
const MUTANTS: readonly (readonly [string, Mutant])[] = [
  [
    'a position that passes what is not confirmed',
    {
      unit(unit) {
        let passed: Parameters<typeof unit.pass>[0] | undefined;
        return proxied(unit, {
          pass(position) {
            passed = position;
            unit.pass(position);
          },
          takeCommittable() {
            unit.takeCommittable();
            return passed;
          },
        });
      },
    },
  ],
  ['a publisher that asks no lease', { remainingMillis: () => 1e9, lost: new AbortController().signal }],
  [
    'a take-over that forgets the position',
    {
      giveBack(id, held, since) {
        const start = { kind: 'unbounded' } as const;
        return waitingSplit(id, { ...held, range: { start, end: held.range.end } }, since);
      },
    },
  ],
  [
    'a take-over that forgets the counts',
    {
      giveBack: (id, held, since) => waitingSplit(id, { ...held, counts: { ...held.counts, rows: 0 } }, since),
    },
  ],
  [
    'a slot that is taken over long before its lease has run out',
    {
      store: (store) => ({
        async readSlots(signal) {
          const read = await store.readSlots(signal);
          return new Map([...read].map(([slot, one]) => [slot, { ...one, readAt: one.readAt + 55_000 }] as const));
        },
      }),
    },
  ],
  [
    'a write of a slot that is taken for written though another owner was faster',
    {
      store: (store) => ({
        async commit(commit, signal) {
          const result = await store.commit(commit, signal);
          return result.kind === 'conflict' ? { kind: 'committed', version: '0' } : result;
        },
      }),
    },
  ],
  [
    'a claim that asks for no version',
    {
      store: (store) => ({
        commit: (commit, signal) =>
          store.commit({ ...commit, changes: commit.changes.map(({ split }) => ({ split })) }, signal),
      }),
    },
  ],
];

const RUNS = 400;

test.each(MUTANTS)('the simulation of a scan finds %s', { timeout: 120_000 }, async (_, mutant) => {
  let found = 0;
  const drawn = fc.sample(schedules, { numRuns: RUNS, seed: 20261130 });
  for (const [index, schedule] of drawn.entries()) {
    const { violations, state, totals, wanted } = await runSchedule(schedule, mutant);
    if (violations.length === 0 && state === 'done' && totals === wanted) continue;
    found = index + 1;
    break;
  }
  expect(found).toBeGreaterThan(0);
});

/** The same with some methods of its own: fields that change stay those of the original. */
const proxied = <Subject extends object>(subject: Subject, own: Partial<Subject>): Subject =>
  new Proxy(subject, {
    get(target, name) {
      const value: unknown = name in own ? own[name as keyof Subject] : Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
