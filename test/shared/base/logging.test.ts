import { describe, expect, test } from 'vitest';
import { createLogger, describeError } from '../../../shared/base/logging.ts';

function lines() {
  const written: string[] = [];
  return { written, write: (line: string) => void written.push(line), parsed: () => written.map(parse) };
}

const parse = (line: string): unknown => JSON.parse(line);

test('an event is one line of JSON with its severity, its message and its fields', () => {
  const { written, write, parsed } = lines();
  createLogger({ pipeline: 'p' }, write).log('WARNING', 'line one\nline two', { count: 3 });
  expect(written).toHaveLength(1);
  expect(written[0]).not.toContain('\n');
  expect(parsed()).toEqual([{ severity: 'WARNING', message: 'line one\nline two', pipeline: 'p', count: 3 }]);
});

test('a logger made by with() adds its fields and leaves the other logger as it was', () => {
  const { write, parsed } = lines();
  const outer = createLogger({ pipeline: 'p', level: 'outer' }, write);
  const inner = outer.with({ level: 'inner', messageId: '1' });
  inner.log('INFO', 'a');
  outer.log('INFO', 'b');
  expect(parsed()).toEqual([
    { severity: 'INFO', message: 'a', pipeline: 'p', level: 'inner', messageId: '1' },
    { severity: 'INFO', message: 'b', pipeline: 'p', level: 'outer' },
  ]);
});

test('a bigint is written with all its digits, wherever it is', () => {
  const { write, parsed } = lines();
  createLogger({}, write).log('INFO', 'm', { micros: 2n ** 63n - 1n, nested: [{ value: -1n }] });
  expect(parsed()).toEqual([
    { severity: 'INFO', message: 'm', micros: '9223372036854775807', nested: [{ value: '-1' }] },
  ]);
});

test('fields never take the place of the severity or the message', () => {
  const { write, parsed } = lines();
  createLogger({ severity: 'DEBUG' }, write).log('ERROR', 'the event', { message: 'a field' });
  expect(parsed()).toEqual([{ severity: 'ERROR', message: 'the event' }]);
});

test('a field that cannot be written costs the fields, not the event and never the caller', () => {
  const { write, parsed } = lines();
  const loop: Record<string, unknown> = {};
  loop.self = loop;
  const hostile = {
    toJSON() {
      throw new Error('not me');
    },
  };
  const logger = createLogger({}, write);
  logger.log('ERROR', 'with a loop', { loop });
  logger.log('ERROR', 'hostile', { hostile });
  expect(parsed()).toEqual([
    { severity: 'ERROR', message: 'with a loop', fieldsError: expect.stringContaining('TypeError') as string },
    { severity: 'ERROR', message: 'hostile', fieldsError: 'Error: not me' },
  ]);
});

describe('describeError', () => {
  test('names the class and the message of an error and of all its causes', () => {
    const error = new Error('outer', { cause: new TypeError('middle', { cause: new RangeError('inner') }) });
    expect(describeError(error)).toBe('Error: outer; caused by TypeError: middle; caused by RangeError: inner');
  });

  test('ends where the causes run in a loop', () => {
    const first = new Error('first');
    const second = new Error('second', { cause: first });
    first.cause = second;
    expect(describeError(first)).toBe('Error: first; caused by Error: second');
  });

  test('describes what is not an Error, alone or as a cause', () => {
    expect(describeError('text')).toBe("'text'");
    expect(describeError({ code: 5 })).toBe('{ code: 5 }');
    expect(describeError(new Error('e', { cause: 7 }))).toBe('Error: e; caused by 7');
  });

  test('says nothing of nothing', () => {
    expect(describeError(undefined)).toBe('');
    expect(describeError(null)).toBe('');
  });

  test('carries no stack', () => {
    expect(describeError(new Error('e'))).not.toContain(' at ');
  });
});
