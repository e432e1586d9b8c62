import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FIXES, fixOf, type ProblemPlace, withoutKeys } from '../../../../functions/cli/scan/problem.ts';
import { type FrozenRun, readRunOptions, writeRunOptions } from '../../../../shared/scan/run-options.ts';
import { WHOLE_TABLE } from '../../../../shared/model/row-range.ts';
import { ReadFailedError } from '../../../../shared/scan/ports.ts';
import type { Status, StatusName } from '../../../../shared/model/status.ts';

const FROZEN: FrozenRun = {
  table: { project: 'p', instance: 'i', table: 't' },
  appProfileId: 'boost',
  ranges: [WHOLE_TABLE],
  form: { kind: 'row', text: 'base64' },
  emission: {
    topic: 'projects/q/topics/rows',
    orderingKeys: 'none',
    maxRecordsPerMessage: 1,
    oversizedMessage: 'fail',
    failurePolicy: 'fail',
  },
  oversizedRow: 'fail',
  window: {},
};

const PLACE: ProblemPlace = { pipeline: 'exports', run: 'r1', frozen: readRunOptions(writeRunOptions(FROZEN)) };

const reading = (code: StatusName, message: string): string => readFailure({ code, message }).message;

const readFailure = (status: Status): Error => new ReadFailedError('ReadRows', FROZEN.table, status);

const GRANT = 'add-iam-policy-binding';

describe('the command that fixes', () => {
  test.each([
    [
      'an unknown profile',
      reading('NOT_FOUND', 'App profile not found: projects/p/instances/i/appProfiles/boost'),
      'gcloud bigtable app-profiles create boost --instance i --project p --route-any --description scans',
    ],
    [
      'an unknown family in a filter',
      reading('NOT_FOUND', "Error in field 'filter' : Requested column family not found."),
      'npm run connector -- scan cancel exports --run r1 && npm run connector -- scan start exports',
    ],
    [
      'a missing table',
      reading('NOT_FOUND', 'Table not found: projects/p/instances/i/tables/t'),
      'gcloud bigtable tables undelete t --instance i --project p',
    ],
    [
      'a missing permission on the table',
      reading('PERMISSION_DENIED', 'Access denied. Missing IAM permission: bigtable.tables.readRows.'),
      `gcloud bigtable tables ${GRANT} t --instance i --project p --member serviceAccount:`,
    ],
    [
      'a deleted topic',
      'Publish to projects/q/topics/rows: NOT_FOUND: Resource not found (resource=rows).',
      'gcloud pubsub topics create rows --project q',
    ],
    [
      'a missing permission on the topic',
      'Publish to projects/q/topics/rows: PERMISSION_DENIED: User not authorized.',
      `gcloud pubsub topics ${GRANT} rows --project q --member serviceAccount:`,
    ],
  ])('%s names it', (_case, problem, command) => {
    expect(fixOf(problem, PLACE)?.fix).toContain(command);
  });

  test('of a problem that says itself what to do is none', () => {
    expect(fixOf('the row a is too large for the service to read', PLACE)).toBeUndefined();
    expect(fixOf(reading('UNAVAILABLE', 'try again'), PLACE)).toBeUndefined();
  });

  test('of a run that cannot be read is none', () => {
    expect(fixOf(reading('NOT_FOUND', 'Table not found'), { ...PLACE, frozen: undefined })).toBeUndefined();
  });
});

test('the page of the scan source lists every cause that has a command', async () => {
  const page = await readFile(resolve(import.meta.dirname, '../../../../shared/docs/scan-source.md'), 'utf8');
  const [, table = ''] = page.split('### What to do about a problem');
  const causes = table.split('\n').map((line) => line.split('|')[1]?.trim());
  expect(causes).toEqual(expect.arrayContaining(FIXES.map(({ cause }) => cause)));
});

describe('a problem without row keys', () => {
  test.each([
    [reading('INTERNAL', 'at row secret'), 'ReadRows of p.i.t ended with INTERNAL'],
    ['Publish to projects/q/topics/rows: NOT_FOUND: of secret', 'Publish to projects/q/topics/rows: NOT_FOUND'],
    ['the row secret has no form: secret', 'a row has no form: its key and the reason are not shown'],
    [
      'one split failed too often; everything else is finished',
      'one split failed too often; everything else is finished',
    ],
    ['anything secret', 'not shown, as it may name a row key'],
  ])('%j becomes %j', (problem, shown) => {
    expect(withoutKeys(problem)).toBe(shown);
  });

  test('says what to do about a row that is too large, and not which', () => {
    const shown = withoutKeys(
      'the row secret, has no form: is too large for the service to read: FAILED_PRECONDITION: secret',
    );
    expect(shown).toMatch(/^a row is too large for the service to read: delete cells of it/);
    expect(shown).not.toContain('secret');
  });
});
