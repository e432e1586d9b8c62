import { describe, expect, test } from 'vitest';
import { completeAnswers, type EntryAnswer } from '../../../shared/bulk/answer.ts';

describe('the answers of a request that has ended', () => {
  const told: (EntryAnswer | undefined)[] = [{ kind: 'applied' }, undefined];

  test.each(['INVALID_ARGUMENT', 'NOT_FOUND', 'PERMISSION_DENIED', 'RESOURCE_EXHAUSTED'] as const)(
    'an ending with %s is a judgement on every entry that was told nothing',
    (code) => {
      expect(completeAnswers(told, { code, message: 'm' })).toEqual([
        { kind: 'applied' },
        { kind: 'refused', status: { code, message: 'm' } },
      ]);
    },
  );

  test.each(['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'CANCELLED', 'INTERNAL', 'UNKNOWN', 'ABORTED'] as const)(
    'an ending with %s leaves open whether those entries are applied',
    (code) => {
      expect(completeAnswers(told, { code, message: 'm' })[1]).toEqual({
        kind: 'unanswered',
        status: { code, message: 'm' },
      });
    },
  );

  test('a good ending never turns silence into success', () => {
    expect(completeAnswers(told, { code: 'OK', message: '' })[1]).toEqual({ kind: 'unanswered' });
    expect(completeAnswers(told, undefined)[1]).toEqual({ kind: 'unanswered' });
  });
});
