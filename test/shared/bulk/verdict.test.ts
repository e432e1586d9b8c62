import { describe, expect, test } from 'vitest';
import type { EntryAnswer } from '../../../shared/bulk/answer.ts';
import { verdictOf } from '../../../shared/bulk/verdict.ts';
import { STATUS_CODES, type StatusName } from '../../../shared/model/status.ts';

const refused = (code: StatusName, message = ''): EntryAnswer => ({ kind: 'refused', status: { code, message } });
const unanswered = (code: StatusName): EntryAnswer => ({ kind: 'unanswered', status: { code, message: '' } });
const FAMILY = 'Error while mutating the row in table t : Requested column family not found.';

describe('the verdict on an answer', () => {
  const cases: readonly [string, EntryAnswer, boolean, string][] = [
    ['applied is applied', { kind: 'applied' }, false, 'applied'],
    ['INVALID_ARGUMENT among others is a suspicion', refused('INVALID_ARGUMENT'), false, 'suspect'],
    ['INVALID_ARGUMENT alone is a rejection', refused('INVALID_ARGUMENT'), true, 'rejected'],
    ['a missing family among others is a suspicion', refused('NOT_FOUND', FAMILY), false, 'suspect'],
    ['a missing family alone is redelivered', refused('NOT_FOUND', FAMILY), true, 'redeliver:missing-family'],
    [
      'a missing table is redelivered at once',
      refused('NOT_FOUND', 'table not found'),
      false,
      'redeliver:missing-table',
    ],
    [
      'a missing table is redelivered, alone too',
      refused('NOT_FOUND', 'table not found'),
      true,
      'redeliver:missing-table',
    ],
    ['UNAVAILABLE is tried again', unanswered('UNAVAILABLE'), false, 'retry'],
    ['UNAVAILABLE for one entry is tried again', refused('UNAVAILABLE'), true, 'retry'],
    ['DEADLINE_EXCEEDED is tried again', unanswered('DEADLINE_EXCEEDED'), false, 'retry'],
    ['silence is tried again', { kind: 'unanswered' }, true, 'retry'],
    [
      'a connection that was reset is tried again',
      { kind: 'unanswered', status: { code: 'INTERNAL', message: 'Received RST_STREAM with code 2' } },
      false,
      'retry',
    ],
    ['ABORTED goes back to Pub/Sub', unanswered('ABORTED'), false, 'redeliver:transient'],
    ['RESOURCE_EXHAUSTED goes back to Pub/Sub', refused('RESOURCE_EXHAUSTED'), true, 'redeliver:transient'],
    ['PERMISSION_DENIED is never dropped', refused('PERMISSION_DENIED'), true, 'redeliver:refused'],
    ['UNAUTHENTICATED is never dropped', refused('UNAUTHENTICATED'), true, 'redeliver:refused'],
    [
      'FAILED_PRECONDITION looks like data and is never dropped',
      refused('FAILED_PRECONDITION'),
      true,
      'redeliver:refused',
    ],
    ['OUT_OF_RANGE is never dropped', refused('OUT_OF_RANGE'), true, 'redeliver:refused'],
    ['INTERNAL without a reset is never dropped', unanswered('INTERNAL'), true, 'redeliver:refused'],
  ];
  test.each(cases)('%s', (_name, answer, isAlone, expected) => {
    const verdict = verdictOf(answer, isAlone);
    expect(verdict.kind === 'redeliver' ? `redeliver:${verdict.reason}` : verdict.kind).toBe(expected);
  });

  test('no status but INVALID_ARGUMENT can ever become a rejection', () => {
    for (const code of Object.keys(STATUS_CODES) as StatusName[]) {
      for (const answer of [refused(code, FAMILY), unanswered(code)]) {
        const { kind } = verdictOf(answer, true);
        if (code !== 'INVALID_ARGUMENT') expect(kind).not.toBe('rejected');
      }
    }
  });
});
