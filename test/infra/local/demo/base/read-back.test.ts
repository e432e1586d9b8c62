import { describe, expect, test } from 'vitest';
import { TableComparison } from '../../../../../infra/local/demo/base/read-back.ts';

describe('the comparison of the table with what it should hold', () => {
  const row = new Map([
    ['f:a@1', '01'],
    ['f:b@1', '02'],
  ]);
  const expected = new Map([
    ['one', row],
    ['two', row],
  ]);
  const compare = (actual: readonly (readonly [string, ReadonlyMap<string, string>])[]): Record<string, number> => {
    const comparison = new TableComparison(expected);
    for (const [key, cells] of actual) comparison.add(key, cells);
    const { missingRows, unexpectedRows, differentCells } = comparison.result();
    return { missingRows, unexpectedRows, differentCells };
  };
  const clean = { missingRows: 0, unexpectedRows: 0, differentCells: 0 };

  test.each([
    [
      'the same, in any order',
      [
        ['two', row],
        ['one', row],
      ],
      clean,
    ],
    ['a row missing', [['one', row]], { ...clean, missingRows: 1 }],
    [
      'a row too many',
      [
        ['one', row],
        ['two', row],
        ['three', row],
      ],
      { ...clean, unexpectedRows: 1 },
    ],
    [
      'a row read twice',
      [
        ['one', row],
        ['two', row],
        ['two', row],
      ],
      { ...clean, unexpectedRows: 1 },
    ],
    [
      'another value',
      [
        ['one', row],
        ['two', new Map([...row, ['f:b@1', '03']])],
      ],
      { ...clean, differentCells: 1 },
    ],
    [
      'a second version',
      [
        ['one', row],
        ['two', new Map([...row, ['f:b@2', '02']])],
      ],
      { ...clean, differentCells: 1 },
    ],
    [
      'a cell missing',
      [
        ['one', row],
        ['two', new Map([['f:a@1', '01']])],
      ],
      { ...clean, differentCells: 1 },
    ],
  ] as const)('%s', (_case, actual, difference) => {
    expect(compare(actual)).toEqual(difference);
  });
});
