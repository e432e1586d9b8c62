import { describe, expect, test } from 'vitest';
import { RecordError } from '../../../shared/base/errors.ts';
import {
  type ConditionalRequest,
  conditionalRequest,
  readModifyWriteRequest,
  type ReadModifyWriteRule,
} from '../../../shared/model/conditional.ts';
import {
  cellExists,
  cellsPerColumn,
  cellsPerRow,
  chain,
  familyEquals,
  interleave,
  latestCellValueEquals,
  noCell,
  type RowFilter,
  timestampRange,
} from '../../../shared/model/filter/filter.ts';
import type { Mutation } from '../../../shared/model/mutation.ts';

const rowKey = Buffer.from('row');
const qualifier = Buffer.from('q');
const set = (timestampMicros = 0n): Mutation => ({
  kind: 'setCell',
  family: 'f',
  qualifier,
  timestampMicros,
  value: Buffer.alloc(0),
});
const removal = (start?: bigint, end?: bigint): Mutation => ({
  kind: 'deleteFromColumn',
  family: 'f',
  qualifier,
  ...(start === undefined ? {} : { startTimestampMicros: start }),
  ...(end === undefined ? {} : { endTimestampMicros: end }),
});
const conditional = (overrides: Partial<ConditionalRequest>): ConditionalRequest =>
  conditionalRequest({ rowKey, then: [set()], otherwise: [], ...overrides });

describe('a conditional request', () => {
  test('is copied and frozen, in order', () => {
    const then = [set(1000n), removal(), { kind: 'deleteFromRow' } as const];
    const request = conditional({ then });
    then.pop();
    expect(request.then.map(({ kind }) => kind)).toEqual(['setCell', 'deleteFromColumn', 'deleteFromRow']);
    expect(Object.isFrozen(request) && Object.isFrozen(request.then)).toBe(true);
  });

  test.each<[string, Partial<ConditionalRequest>, string]>([
    ['an empty row key', { rowKey: Buffer.alloc(0) }, 'row key: must not be empty'],
    ['a row key over 4 KiB', { rowKey: Buffer.alloc(4097) }, 'row key: must be at most 4096 bytes, got 4097'],
    ['no mutation at all', { then: [] }, 'must have a mutation in one of its branches'],
    ['100,001 mutations', { otherwise: Array.from({ length: 100_001 }, () => set()) }, 'otherwise: must be at most 100000'],
    ['a blank family', { then: [{ kind: 'deleteFromFamily', family: ' ' }] }, 'then[0] (deleteFromFamily): family must not be blank'],
    ['a filter inside its predicate that no builder made', { predicate: { kind: 'interleave', filters: [noCell(), { kind: 'chain', filters: [] }] } }, 'predicate.interleave[1]: must combine at least one filter, got none'],
    ['a set at −2', { then: [set(-2n)] }, 'timestamp must be from -1 to 2^63 − 1 microseconds, got -2'],
    ['a set above int64', { then: [set(2n ** 63n)] }, 'timestamp must be from -1'],
    ['an aggregate at server time', { then: [{ kind: 'addToCell', family: 'f', qualifier, timestampMicros: -1n, input: { kind: 'int64', value: 1n } }] }, 'timestamp must be from 0'],
    ['a range that starts before 0', { then: [removal(-1n)] }, 'start timestamp must be from 0'],
    ['a range that ends at 0', { then: [removal(undefined, 0n)] }, 'end timestamp must be from 1'],
    ['an empty range', { then: [removal(5000n, 5000n)] }, 'end timestamp must be above the start 5000, got 5000'],
    ['a set between two milliseconds', { then: [set(0n), set(1n)] }, 'then[1] (setCell): timestamp must be whole milliseconds (a multiple of 1000), got 1'],
    ['a range from between two milliseconds', { then: [removal(1n)] }, 'start timestamp must be whole milliseconds (a multiple of 1000), got 1'],
    ['a range to between two milliseconds', { then: [removal(0n, 1001n)] }, 'end timestamp must be whole milliseconds (a multiple of 1000), got 1001'],
    ['a name of no family', { then: [{ kind: 'deleteFromFamily', family: 'f:q' }] }, 'family must be letters, digits, "_", "-" and ".", got another text'],
    ['a qualifier over 16 KiB', { then: [set(), { ...removal(), qualifier: Buffer.alloc(16_385) } as Mutation] }, 'then[1] (deleteFromColumn): qualifier must be at most 16384 bytes, got 16385'],
    ['a qualifier over 16 KiB behind a like cell', { then: [set(), { ...set(), qualifier: Buffer.alloc(16_385) } as Mutation] }, 'then[1] (setCell): qualifier must be at most 16384 bytes'],
    ['a value over 100 MiB', { then: [{ ...set(), value: Buffer.alloc(104_857_601) } as Mutation] }, 'value must be at most 104857600 bytes, got 104857601'],
  ])('is refused with %s', (_name, overrides, rule) => {
    expect(() => conditional(overrides)).toThrow(RecordError);
    expect(() => conditional(overrides)).toThrow(rule);
  }); // prettier-ignore

  test.each<[string, Mutation[]]>([
    ['100,000 mutations', Array.from({ length: 100_000 }, () => set())],
    ['server time', [set(-1n)]],
    ['the largest timestamp', [set(2n ** 63n - 808n)]],
    ['open and closed ranges', [removal(), removal(0n), removal(undefined, 1000n), removal(0n, 1000n)]],
  ])('takes %s', (_name, then) => {
    expect(conditional({ then }).then).toHaveLength(then.length);
  });
});

describe('a read-modify-write request', () => {
  const append = (value: string): ReadModifyWriteRule => ({
    kind: 'append',
    family: 'f',
    qualifier,
    value: Buffer.from(value),
  });
  const increment = (amount: bigint): ReadModifyWriteRule => ({ kind: 'increment', family: 'f', qualifier, amount });

  test('keeps order, repeats, zero and negative amounts', () => {
    const rules = [increment(0n), append('x'), append('x'), increment(-(2n ** 63n))];
    expect(readModifyWriteRequest({ rowKey, rules }).rules).toEqual(rules);
  });

  test.each<[string, ReadModifyWriteRule[], string]>([
    ['no rule', [], 'must have 1 to 100000 rules, got 0'],
    ['too many rules', Array.from({ length: 100_001 }, () => increment(1n)), 'got 100001'],
    ['an empty append', [append('')], 'rules[0] (append): value must not be empty'],
    ['an amount above int64', [increment(1n), increment(2n ** 63n)], 'rules[1] (increment): amount must be'],
    ['a blank family', [{ ...increment(1n), family: '' }], 'family must not be blank'],
    [
      'a qualifier over 16 KiB',
      [{ ...append('x'), qualifier: Buffer.alloc(16_385) }],
      'rules[0] (append): qualifier must be at most 16384 bytes',
    ],
  ])('is refused with %s', (_name, rules, rule) => {
    expect(() => readModifyWriteRequest({ rowKey, rules })).toThrow(rule);
  });
});

const nested = (depth: number): RowFilter =>
  Array.from({ length: depth }).reduce<RowFilter>((inner) => chain(inner), noCell());

describe('filters', () => {
  test('20 chains in each other are the deepest that the service takes', () => {
    expect(nested(20).kind).toBe('chain');
  });

  test('the newest version is chosen before its value is compared', () => {
    const filter = latestCellValueEquals('f', qualifier, Buffer.from('v'));
    expect(filter.kind === 'chain' && filter.filters.map(({ kind }) => kind)).toEqual([
      'family',
      'qualifier',
      'cellsPerColumn',
      'value',
    ]);
  });

  test('a cell exists in any version', () => {
    expect(cellExists('f', qualifier)).toEqual({
      kind: 'chain',
      filters: [
        { kind: 'family', family: 'f' },
        { kind: 'qualifier', qualifier },
      ],
    });
  });

  test.each<[string, () => RowFilter, string]>([
    ['a blank family', () => familyEquals(' '), 'must not be blank'],
    ['a start before 0', () => timestampRange(-1n), 'must be from 0'],
    ['an empty range', () => timestampRange(3000n, 3000n), 'must be above the start 3000, got 3000'],
    ['a range from between two milliseconds', () => timestampRange(3n), 'startMicros: must be whole milliseconds'],
    ['no cell a column', () => cellsPerColumn(0), 'from 1 to 2^31 − 1, got 0'],
    ['half a cell a row', () => cellsPerRow(0.5), 'got 0.5'],
    ['an empty chain', () => chain(), 'at least one filter'],
    ['an empty interleave', () => interleave(), 'at least one filter'],
    ['21 chains in each other', () => nested(21), 'must nest chains and interleaves at most 20 deep'],
  ])('%s is refused', (_name, build, rule) => {
    expect(build).toThrow(rule);
  });
});
