import { describe, expect, test } from 'vitest';
import { problemShown } from '../../../../functions/cli/change-stream/problem.ts';
import { checkExpiry } from '../../../../shared/change-stream/ledger/retention.ts';
import { StreamFailedError } from '../../../../shared/change-stream/reading/ports.ts';
import { held, range } from '../../../support/partitions.ts';

const RANGE = range('secret-a', 'secret-b');
const TABLE = { project: 'p', instance: 'i', table: 't' };

const failed = (failure: 'status' | 'too-large', message: string): string =>
  new StreamFailedError(failure, { table: TABLE, range: RANGE }, { code: 'INTERNAL', message }).message;

const expired = (): string => {
  const outcome = checkExpiry(held('secret-a', 'secret-b'), undefined, { retentionMillis: 600_000, now: 9_000_000 });
  return outcome.kind === 'expired' ? outcome.problem : '';
};

describe('a problem of a partition', () => {
  test.each([
    ['of the service', failed('status', 'at secret'), /^ReadChangeStream of \S+ ended with INTERNAL$/],
    [
      'of a change that is too large',
      failed('too-large', 'a change of the row secret has more than 100 bytes'),
      /ended with INTERNAL: a change has more than 100 bytes; raise maxMutationBytes$/,
    ],
    ['of an expired position', expired(), /^the partition was read to .* name a resumeFallback, or restart/],
    [
      'of the topic',
      'Publish to projects/p/topics/c: NOT_FOUND: secret',
      /^Publish to projects\/p\/topics\/c: NOT_FOUND$/,
    ],
    ['of a form', 'the change of row secret has no form: secret', /^a change has no form: the log/],
    ['of another kind', 'anything secret', /^not shown, as it may name a row key/],
  ])('%s is shown without a row key where ranges are not', (_case, problem, shown) => {
    const text = problemShown(problem, RANGE, false);
    expect(text).toMatch(shown);
    expect(text).not.toContain('secret');
  });

  test('is shown without the row that it is about, and with the range, where ranges are', () => {
    const tooLarge = problemShown(failed('too-large', 'a change of the row key-1 has more than 9 bytes'), RANGE, true);
    expect(tooLarge).toMatch(
      /^ReadChangeStream of \[secret-a, secret-b\) of .*: a change has more than 9 bytes; raise/,
    );
    expect(problemShown('the change of row key-1 has no form: x', RANGE, true)).not.toContain('key-1');
    expect(problemShown('anything else', RANGE, true)).toBe('anything else');
  });
});
