import { expect, test } from 'vitest';
import { keptMillis } from '../../../../shared/google/bigtable/kept-millis.ts';
import { GcRule } from '../../../../shared/proto/google/bigtable/admin/v2/table.ts';

const age = (seconds: bigint, nanos = 0): GcRule => ({ rule: { $case: 'maxAge', value: { seconds, nanos } } });
const versions: GcRule = { rule: { $case: 'maxNumVersions', value: 1 } };
const any = (...rules: GcRule[]): GcRule => ({ rule: { $case: 'union', value: { rules } } });
const all = (...rules: GcRule[]): GcRule => ({ rule: { $case: 'intersection', value: { rules } } });

test.each([
  ['no rule', undefined, Infinity],
  ['a rule that says nothing', GcRule.decode(Buffer.alloc(0)), Infinity],
  ['an age', age(8n, 500_000_000), 8500],
  ['a number of versions', versions, 0],
  ['any of two ages', any(age(8n), age(5n)), 5000],
  ['any of an age and a number of versions', any(age(8n), versions), 0],
  ['all of two ages', all(age(8n), age(5n)), 8000],
  ['all of an age and a number of versions', all(age(8n), versions), 8000],
  ['a rule within a rule', all(any(age(8n), age(9n)), age(5n)), 8000],
  ['all of nothing', all(), 0],
  ['a rule of a later version of the API', GcRule.decode(Buffer.from('aa0600', 'hex')), 0],
])('a cell under %s is kept at least that long', (_what, rule, millis) => {
  expect(keptMillis(rule)).toBe(millis);
});
