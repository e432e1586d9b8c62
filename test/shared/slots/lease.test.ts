import { expect, test } from 'vitest';
import { compose } from '../../../shared/slots/compose.ts';
import { decideTake, LEASE_MILLIS, takeOver } from '../../../shared/slots/lease.ts';
import { momentOf, remainingOf } from '../../../shared/slots/lease-time.ts';
import type { SlotRead } from '../../../shared/slots/ports.ts';

const NOW = Date.UTC(2026, 0, 1);
const giveBack = (id: string, held: number, since: number): string => `${id} waits at ${held} since ${since - NOW}`;

const slotOf = (owner: string, age: number): SlotRead<number> => ({
  version: 'v7',
  value: { owner, epoch: 4, attempt: 9, units: { a: 1, b: 2 } },
  updatedAt: NOW,
  readAt: NOW + age,
});

test('a slot that nobody ever had is made', () => {
  expect(decideTake(3, undefined, 'me', NOW, giveBack)).toEqual({
    kind: 'take',
    commit: { slot: 3, version: undefined, value: { owner: 'me', epoch: 1, attempt: 1, units: {} }, changes: [] },
  });
});

test('a slot whose owner wrote less than a lease ago is held, whatever the own clock says', () => {
  const read = slotOf('other', LEASE_MILLIS - 1);
  expect(decideTake(0, read, 'me', NOW + 1e9, giveBack)).toEqual({ kind: 'held', by: 'other', runsOutInMillis: 1 });
});

test.each([
  ['whose lease has run out', slotOf('other', LEASE_MILLIS)],
  ['that was given back', slotOf('', 0)],
])(
  'a slot %s is taken in one commit, in which every unit waits at its last position and the epoch grows',
  (_, read) => {
    expect(decideTake(0, read, 'me', NOW + 5, giveBack)).toEqual({
      kind: 'take',
      commit: {
        slot: 0,
        version: 'v7',
        value: { owner: 'me', epoch: 5, attempt: 10, units: {} },
        changes: ['a waits at 1 since 5', 'b waits at 2 since 5'],
      },
    });
  },
);

test('a slot that an attempt whose answer was lost has taken is ours', () => {
  expect(decideTake(0, slotOf('me', LEASE_MILLIS), 'me', NOW, giveBack).kind).toBe('ours');
});

test('a slot that is taken over for its units alone is nobody’s after it', () => {
  expect(takeOver(1, slotOf('dead', LEASE_MILLIS), '', NOW, giveBack).value).toEqual({
    owner: '',
    epoch: 5,
    attempt: 10,
    units: {},
  });
});

const clockAt = (wall: number, monotonic: number) => ({
  now: () => wall,
  monotonic: () => monotonic,
  after: () => () => undefined,
  soon: () => undefined,
});

test.each([
  ['both clocks agree', 10_000, 10_000, 50_000],
  ['the wall clock was set back', -30_000, 10_000, 50_000],
  ['the monotonic clock stood still while the instance was frozen', 70_000, 5, -10_000],
  ['the wall clock jumped ahead', 1_000_000, 10_000, LEASE_MILLIS - 1_000_000],
])('where %s, a lease lasts by the one that went further', (_, wall, monotonic, left) => {
  const sentAt = momentOf(clockAt(NOW, 0));
  expect(remainingOf(sentAt, momentOf(clockAt(NOW + wall, monotonic)))).toBe(left);
});

test('a unit is told why it is given back: its owner did it, or fell silent', () => {
  const giveBackWith = (id: string, _held: number, _since: number, reason: string): string => `${id} ${reason}`;
  expect(
    takeOver(1, slotOf('dead', LEASE_MILLIS), '', NOW, giveBackWith).changes.every((each) => each.endsWith('ran-out')),
  ).toBe(true);
  const released = compose(slotOf('me', 0).value, [], {
    ...{ attempt: 9, isRenewal: false, isReleasing: true, now: NOW },
    giveBack: giveBackWith,
  });
  expect(released.attempt?.changes.length).toBeGreaterThan(0);
  expect(released.attempt?.changes.every((each) => each.endsWith('released'))).toBe(true);
});

test('two claims of one slot go in a commit each, in their order: both may depend on one document', () => {
  const wanted = [true, true, false].map((isClaim, index) => ({
    update: { isClaim, edit: () => ({ units: { a: index }, changes: [String(index)] }) },
    resolve: () => undefined,
    reject: () => undefined,
  }));
  const occasion = { attempt: 1, isRenewal: false, isReleasing: false, now: NOW, giveBack };
  expect(compose(slotOf('me', 0).value, wanted, occasion).attempt?.changes).toEqual(['0']);
  expect(compose(slotOf('me', 0).value, wanted.slice(1), occasion).attempt?.changes).toEqual(['1', '2']);
});
