import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  formatTableName,
  parseTableName,
  tableName,
  tableNamePartProblem,
  tablePath,
} from '../../../shared/model/table-name.ts';

const home = { project: 'home-project', instance: 'home-instance' };

/** Ids as the services allow them: a project may be scoped to a domain, a table id may hold dots. */
const anyId = fc.stringMatching(/^[a-z][a-z0-9-]{0,12}$/);
const anyProject = fc.oneof(
  anyId,
  fc.tuple(fc.array(anyId, { minLength: 1, maxLength: 3 }), anyId).map(([domain, id]) => `${domain.join('.')}:${id}`),
);
const anyTable = fc.oneof(
  { weight: 3, arbitrary: fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9_-]{0,11}$/) },
  fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,12}$/),
);

describe('parse and format', () => {
  test('a formatted name reads back as the same table, domain-scoped projects and dotted table ids included', () => {
    fc.assert(
      fc.property(anyProject, anyId, anyTable, (project, instance, table) => {
        const name = tableName(project, instance, table);
        expect(parseTableName(formatTableName(name), home)).toEqual(name);
        expect(parseTableName(formatTableName(name), undefined)).toEqual(name);
      }),
      { seed: 4, numRuns: 500 },
    );
  });

  test('a project of a domain keeps its dots and its colon', () => {
    expect(parseTableName('example.com:p.i.t', undefined)).toEqual({
      project: 'example.com:p',
      instance: 'i',
      table: 't',
    });
  });

  test('a table id with dots is not taken for a longer project', () => {
    expect(parseTableName('p.i.daily.2026', undefined)).toEqual({ project: 'p', instance: 'i', table: 'daily.2026' });
    expect(parseTableName('example.com:p.i.daily.2026', home)).toEqual({
      project: 'example.com:p',
      instance: 'i',
      table: 'daily.2026',
    });
  });

  test('a bare table belongs to home, and to nowhere without one', () => {
    expect(parseTableName('events', home)).toEqual({ ...home, table: 'events' });
    expect(parseTableName('events', undefined)).toBeUndefined();
  });

  test.each([
    '',
    ' ',
    'a.b',
    '.',
    '..',
    '...',
    'p..t',
    '.i.t',
    'p.i.',
    'p.i.t/u',
    'p .i.t',
    ' p.i.t',
    'p.i.t ',
    ' t',
    't/u',
    'a b',
    '-t',
    'p.i..t',
    'p.i.größe',
    `p.i.${'t'.repeat(51)}`,
  ])('%j is neither form', (text) => {
    expect(parseTableName(text, home)).toBeUndefined();
  });

  test('the name on the wire is the path of the resource', () => {
    expect(tablePath(tableName('p', 'i', 't'))).toBe('projects/p/instances/i/tables/t');
  });
});

describe('the parts of a name', () => {
  test.each([
    ['', 'must not be blank'],
    ['  ', 'must not be blank'],
    [' a', 'must not start or end with white space'],
    ['a\n', 'must not start or end with white space'],
    ['a/b', 'must not contain "/"'],
    ['a', undefined],
    ['a b', undefined],
  ])('%j: %s', (value, problem) => {
    expect(tableNamePartProblem(value)).toBe(problem);
  });

  test('a name is refused with the part that is wrong and its value', () => {
    expect(() => tableName('p', 'i/j', 't')).toThrow(new TypeError('instance: must not contain "/", got "i/j"'));
    expect(() => tableName('p', 'i', ' ')).toThrow('table: must not be blank');
    expect(() => tableName('', 'i', 't')).toThrow('project: must not be blank');
  });
});
