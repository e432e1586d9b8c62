import { describe, expect, test } from 'vitest';
import { RedeliverError } from '../../../shared/base/errors.ts';
import { routeRecord } from '../../../shared/records/route.ts';
import { recordOf } from '../mapping/records.ts';

const home = { project: 'home-project', instance: 'home-instance' };
const destination = { home, attribute: 'table' };
const naming = (table: string): ReturnType<typeof recordOf> => recordOf('', { attributes: { table } });

describe('a record by the attribute of its message', () => {
  test.each([
    ['an id', 'orders', { ...home, table: 'orders' }],
    ['an address at home, whose table id may hold dots', 'home-project.home-instance.orders.eu', { ...home, table: 'orders.eu' }],
    ['a path at home', 'projects/home-project/instances/home-instance/tables/orders.eu', { ...home, table: 'orders.eu' }],
    ['a path elsewhere', 'projects/p/instances/i/tables/t.1', { project: 'p', instance: 'i', table: 't.1' }],
  ])('goes to %s', (_name, text, table) => {
    expect(routeRecord(naming(text), destination, undefined)).toEqual(table);
  }); // prettier-ignore

  test.each(['orders.eu.0131', 'p.i.t', 'example.com:p.i.t', 'a b', '-t', '.t', 't'.repeat(51), 'projects/p/instances/i', ''])(
    'is redelivered where it says %j, which may be no address at all',
    (text) => {
      expect(() => routeRecord(naming(text), destination, undefined)).toThrow(RedeliverError);
      expect(() => routeRecord(naming(text), destination, undefined)).toThrow(
        `the attribute table must name project.instance.table of home-project.home-instance, the id of a table there, or the path projects/…/instances/…/tables/… of a table elsewhere, got ${JSON.stringify(text)}`,
      );
    },
  ); // prettier-ignore

  test('goes to any address where the pipeline has no instance, for no id can stand there', () => {
    const anywhere = { attribute: 'table' };
    expect(routeRecord(naming('p.i.t.1'), anywhere, undefined)).toEqual({ project: 'p', instance: 'i', table: 't.1' });
    expect(() => routeRecord(naming('t'), anywhere, undefined)).toThrow('must name project.instance.table or projects/');
  }); // prettier-ignore
});

describe('a record by the id of a table', () => {
  test.each(['orders.eu.0131', 'other-project.other-instance.t', 'p.i'])(
    'stays in the instance of its pipeline, also where it reads like an address: %s',
    (table) => {
      expect(routeRecord(recordOf(''), { home }, { table })).toEqual({ ...home, table });
      expect(routeRecord(recordOf(''), { table: { ...home, table: 't' } }, { table })).toEqual({ ...home, table });
    },
  );

  test('is redelivered where the pipeline has no instance or the id is none', () => {
    expect(() => routeRecord(recordOf(''), {}, { table: 't' })).toThrow('needs project and instance, got "t"');
    expect(() => routeRecord(recordOf(''), { home }, { table: 'a/b' })).toThrow('must be an id of 1 to 50 letters');
  });
});
