import { status as grpcStatus } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import { STATUS_CODES, type StatusFacts, STATUSES, type StatusName, statusName } from '../../../shared/model/status.ts';

test('the table of statuses is that of gRPC, both ways', () => {
  const names = Object.keys(grpcStatus).filter((name) => Number.isNaN(Number(name)));
  expect(Object.keys(STATUS_CODES).toSorted()).toEqual(names.toSorted());
  for (const [name, code] of Object.entries(STATUS_CODES)) {
    expect(grpcStatus[code]).toBe(name);
    expect(statusName(code)).toBe(name);
  }
});

test.each([-1, 17, 1.5, Number.NaN])('a number that gRPC does not define is UNKNOWN: %d', (code) => {
  expect(statusName(code)).toBe('UNKNOWN');
});

describe('what the rooms decide by', () => {
  const having = (holds: (facts: StatusFacts) => boolean): string[] =>
    (Object.keys(STATUSES) as StatusName[]).filter((name) => holds(STATUSES[name])).toSorted();
  const transient = ['ABORTED', 'CANCELLED', 'DEADLINE_EXCEEDED', 'RESOURCE_EXHAUSTED', 'UNAVAILABLE'];

  test.each<[string, (facts: StatusFacts) => boolean, readonly string[]]>([
    ['passes by itself', ({ passes }) => passes === 'yes', transient],
    [
      'may pass, where a repetition is harmless',
      ({ passes }) => passes !== 'no',
      [...transient, 'INTERNAL', 'UNKNOWN'].toSorted(),
    ],
    [
      'is tried again within the invocation of the bulk sink',
      ({ isUnreached }) => isUnreached,
      ['DEADLINE_EXCEEDED', 'UNAVAILABLE'],
    ],
    [
      'leaves open whether a change was made',
      ({ leavesEffectOpen }) => leavesEffectOpen,
      ['ABORTED', 'CANCELLED', 'DATA_LOSS', 'DEADLINE_EXCEEDED', 'INTERNAL', 'UNAVAILABLE', 'UNKNOWN'],
    ],
    [
      'is ambiguous to a request that is sent once',
      ({ leavesEffectOpen, passes }) => leavesEffectOpen && passes === 'yes',
      ['ABORTED', 'CANCELLED', 'DEADLINE_EXCEEDED', 'UNAVAILABLE'],
    ],
    ['may end in a policy that drops', ({ blamesCall }) => blamesCall, ['INVALID_ARGUMENT']],
    [
      'tells a commit that a precondition was lost',
      ({ blamesState }) => blamesState,
      ['ABORTED', 'ALREADY_EXISTS', 'FAILED_PRECONDITION', 'NOT_FOUND'],
    ],
    [
      'stops a publisher, because its next message would meet it too',
      ({ blamesSetup, isUnreached }) => blamesSetup || isUnreached,
      ['DEADLINE_EXCEEDED', 'NOT_FOUND', 'PERMISSION_DENIED', 'UNAUTHENTICATED', 'UNAVAILABLE'],
    ],
  ])('a status that %s', (_sentence, holds, expected) => {
    expect(having(holds)).toEqual(expected);
  });
});
