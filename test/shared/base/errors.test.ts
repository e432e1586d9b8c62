import { expect, test } from 'vitest';
import { ConfigError, RecordError, RedeliverError, toError } from '../../../shared/base/errors.ts';

test('an Error passes as it is, anything else becomes one and is kept as the cause', () => {
  const error = new TypeError('as it is');
  expect(toError(error)).toBe(error);
  for (const thrown of ['text', 7, 7n, null, undefined, Symbol('s'), { some: 'object' }, ['list']]) {
    const made = toError(thrown);
    expect(made).toBeInstanceOf(Error);
    expect(made.cause).toBe(thrown);
  }
});

test('what an object holds is not told: it may be a record', () => {
  expect(toError(['row-key-1']).message).toBe('thrown: an object that is no Error');
  expect(toError('text').message).toBe('thrown: text');
});

test('an object that refuses to be made a text becomes an Error all the same', () => {
  const bare: unknown = Object.create(null);
  const hostile = {
    toString() {
      throw new Error('no text');
    },
  };
  for (const thrown of [bare, hostile]) expect(toError(thrown).cause).toBe(thrown);
});

test('a configuration error lists every problem, each as path, rule and value', () => {
  const error = new ConfigError('connector.yaml', [
    { path: 'a.b', rule: 'must be set', got: 'nothing' },
    { path: 'c', rule: 'must be a size', got: '"x"' },
  ]);
  expect(error.message).toBe(
    'connector.yaml: 2 problems\n  a.b: must be set, got nothing\n  c: must be a size, got "x"',
  );
  expect(new ConfigError('f', [{ path: 'a', rule: 'r', got: 'g' }]).message).toContain('1 problem\n');
});

test('a redelivery keeps its reason, its name and its cause', () => {
  const cause = new Error('why');
  const error = new RedeliverError('transient', 'again', { cause });
  expect([error.name, error.reason, error.message, error.cause]).toEqual([
    'RedeliverError',
    'transient',
    'again',
    cause,
  ]);
});

test('an error of a record notes no place, because a message may make very many; one that is ours to look for does', () => {
  expect(new RecordError('record: must be JSON').stack).toBe('RecordError: record: must be JSON');
  expect(new RedeliverError('transient', 'no').stack).toContain('errors.test.ts');
});
