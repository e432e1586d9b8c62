import { expect, test } from 'vitest';
import { readResult } from '../../../../../infra/local/demo/requests/results.ts';

test('a result tells whether its request wrote; what is no result is an error', () => {
  const result = (outcome: object, more: object = {}): Buffer =>
    Buffer.from(JSON.stringify({ version: 1, correlationId: '7', outcome: { conditional: outcome }, ...more }));
  const wrote = { predicateMatched: false, selectedBranch: 'otherwise', selectedBranchHasMutations: true };
  const left = { predicateMatched: true, selectedBranch: 'then', selectedBranchHasMutations: false };
  expect(readResult(result(wrote))).toEqual({ correlationId: '7', hasWritten: true, mayBeReplayed: false });
  expect(readResult(result(left, { mayBeReplayed: true }))).toMatchObject({ hasWritten: false, mayBeReplayed: true });
  expect(() => readResult(Buffer.from('{"version":1}'))).toThrow();
});
