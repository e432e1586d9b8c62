import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LedgerWrite } from '../../shared/change-stream/ledger/writes.ts';
import { schedules } from './change-stream/schedule.ts';
import { type Mutant, runSchedule } from './change-stream/world.ts';

/** Faults that the simulation of a source must find, or its being green would say nothing. */
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
  [
    'a partition that is closed before all of it is confirmed',
    { unit: (unit) => proxied(unit, { settled: () => Promise.resolve() }) },
  ],
  ['a publisher that asks no lease', { remainingMillis: () => 1e9, lost: new AbortController().signal }],
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
        commit: (commit, signal) => store.commit({ ...commit, changes: commit.changes.map(unversioned) }, signal),
      }),
    },
  ],
  [
    'a parent that ends in one commit and makes its children in another',
    {
      store: (store) => ({
        async commit(commit, signal) {
          const children = commit.changes.filter(({ kind }) => kind !== 'partition');
          const first = { ...commit, changes: commit.changes.filter(({ kind }) => kind === 'partition') };
          const result = await store.commit(children.length > 0 ? first : commit, signal);
          if (children.length === 0 || result.kind === 'conflict') return result;
          const second = { ...commit, version: result.version, changes: children };
          return store.commit(second, signal);
        },
      }),
    },
  ],
];

function unversioned(write: LedgerWrite): LedgerWrite {
  return write.kind === 'partition' ? { kind: 'partition', partition: write.partition } : write;
}

const RUNS = 600;

test.each(MUTANTS)('the simulation of a source finds %s', { timeout: 240_000 }, async (_, mutant) => {
  let found = 0;
  const drawn = fc.sample(schedules, { numRuns: RUNS, seed: 20261201 });
  for (const [index, schedule] of drawn.entries()) {
    const { violations, published, wanted } = await runSchedule(schedule, mutant);
    if (violations.length === 0 && published === wanted) continue;
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
