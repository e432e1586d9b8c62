import { describe, expect, test } from 'vitest';
import { STATUS_CODES, type StatusName } from '../../../shared/model/status.ts';
import { tableName } from '../../../shared/model/table-name.ts';
import { type Attempt, explain, verdictOf } from '../../../shared/single-row/verdict.ts';

const status = (code: StatusName, message = 'words of the service') => ({ code, message });

describe('the verdict on a failed attempt', () => {
  const fatal = (reason: string): object => ({ kind: 'fatal', reason });
  const ambiguous = (isTimeout: boolean): object => ({ kind: 'ambiguous', isTimeout });
  const CLASSES: Readonly<Record<Exclude<StatusName, 'OK'>, object>> = {
    INVALID_ARGUMENT: { kind: 'rejected' },
    DEADLINE_EXCEEDED: ambiguous(true),
    UNAVAILABLE: ambiguous(false),
    ABORTED: ambiguous(false),
    CANCELLED: ambiguous(false),
    NOT_FOUND: fatal('missing-table'),
    RESOURCE_EXHAUSTED: fatal('transient'),
    PERMISSION_DENIED: fatal('refused'),
    UNAUTHENTICATED: fatal('refused'),
    FAILED_PRECONDITION: fatal('refused'),
    OUT_OF_RANGE: fatal('refused'),
    ALREADY_EXISTS: fatal('refused'),
    UNIMPLEMENTED: fatal('refused'),
    INTERNAL: fatal('refused'),
    UNKNOWN: fatal('refused'),
    DATA_LOSS: fatal('refused'),
  };

  test.each(Object.entries(CLASSES))('of %s', (code, expected) => {
    expect(verdictOf(status(code as StatusName))).toEqual(expected);
  });

  test('is known for every status', () => {
    expect(new Set([...Object.keys(CLASSES), 'OK'])).toEqual(new Set(Object.keys(STATUS_CODES)));
  });

  test('tells a missing family from a missing table by the words of the service', () => {
    const words = 'row k of t: Requested column family not found.';
    expect(verdictOf(status('NOT_FOUND', words))).toEqual(fatal('missing-family'));
  });

  test('of a connection that was reset is ambiguous, although the client calls it INTERNAL', () => {
    const words = 'Received RST_STREAM with code 2 (Internal server error)';
    expect(verdictOf(status('INTERNAL', words))).toEqual(ambiguous(false));
  });
});

describe('the message of a failed attempt', () => {
  const conditional: Attempt = { method: 'CheckAndMutateRow', table: tableName('p', 'i', 't'), isGuarded: false };
  const increment: Attempt = { ...conditional, method: 'ReadModifyWriteRow' };
  const of = (attempt: Attempt, code: StatusName, words?: string): string => {
    const ended = status(code, words);
    return explain(attempt, ended, verdictOf(ended));
  };

  test('names RPC, table and status, and that the effect is not known', () => {
    expect(of(increment, 'UNAVAILABLE')).toBe(
      'ReadModifyWriteRow on p.i.t ended with UNAVAILABLE: it may or may not be applied. Delivery is at least once: a replay appends or increments again',
    );
  });

  test('says that a replayed conditional request asks again', () => {
    expect(of(conditional, 'DEADLINE_EXCEEDED')).toContain('a replay evaluates the predicate again');
  });

  test('says that a guarded one is applied once', () => {
    const text = of({ ...conditional, isGuarded: true }, 'ABORTED');
    expect(text).toContain('A replay meets its marker if it was applied, and changes nothing then');
    expect(text).not.toContain('at least once');
  });

  test('hints at the profile for a conditional request, and for either where the service speaks of a precondition', () => {
    const hint = 'single-cluster routing that allows single-row transactions';
    expect(of(conditional, 'UNAVAILABLE')).toContain(hint);
    expect(of(increment, 'UNAVAILABLE')).not.toContain(hint);
    expect(of(increment, 'FAILED_PRECONDITION')).toContain(hint);
  });

  test('keeps what may quote the row to itself', () => {
    for (const words of ['table secret-row', 'row secret-row: Requested column family not found.']) {
      expect(of(increment, 'NOT_FOUND', words)).not.toContain('secret-row');
      expect(of(increment, 'NOT_FOUND', words)).toContain('not applied');
    }
    expect(of(increment, 'INVALID_ARGUMENT', 'row secret-row')).not.toContain('secret-row');
  });

  test('does not claim to know the effect where the status is no judgement', () => {
    expect(of(increment, 'UNKNOWN')).toContain('does not say whether it was applied');
    expect(of(increment, 'PERMISSION_DENIED')).not.toContain('does not say');
  });
});
