import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { ConfigError } from '../../../shared/base/errors.ts';
import { loadModuleSerializer } from '../../../shared/mapping/module-serializer.ts';
import { contextOf } from '../../../shared/mapping/serializer.ts';
import { recordOf } from '../../support/pushed-message.ts';

const modules = resolve(import.meta.dirname, '../../support/modules');
const load = (module: string, options?: unknown) => loadModuleSerializer(module, modules, options);

const record = recordOf({ data: Buffer.from('key'), messageId: '7' });
const context = contextOf(record);

test('a default export that is a function is the serializer', async () => {
  const serializer = await load('function-serializer.ts');
  expect(serializer.serialize(record, context)).toMatchObject({
    rowKey: Buffer.from('key'),
    mutations: [{ value: Buffer.from('from the function'), timestampMicros: context.publishTimeMicros }],
  });
  expect(serializer.serialize(recordOf(), context)).toBeNull();
  expect(serializer.resolve).toBeUndefined();
});

test('a default export that is an object is opened with the options before it is used, and keeps its state', async () => {
  const serializer = await load('object-serializer.ts', { prefix: 'p' });
  expect(serializer.serialize(record, context)?.rowKey.toString()).toBe('{"prefix":"p"}key');
  expect(serializer.resolve?.(record)).toBe('{"prefix":"p"}-7');
  expect(serializer.open).toBeUndefined();
});

test('an object with nothing but serialize is enough, and leaves the table to the configuration', async () => {
  const serializer = await load('./minimal-serializer.ts');
  expect(serializer.serialize(record, context)).toBeNull();
  expect(serializer.resolve).toBeUndefined();
});

test('a module may be JavaScript, and named from any directory or absolutely', async () => {
  expect((await load('plain-serializer.js')).serialize(record, context)).toBeNull();
  const from = resolve(modules, 'elsewhere');
  expect((await loadModuleSerializer('../plain-serializer.js', from, {})).serialize(record, context)).toBeNull();
  const absolute = resolve(modules, 'plain-serializer.js');
  expect((await loadModuleSerializer(absolute, '/', {})).serialize(record, context)).toBeNull();
});

test.each([
  [
    'no default export',
    'no-default.ts',
    'a default export that is a function or an object with a function "serialize"',
    'undefined',
  ],
  [
    'a default export with wrong members',
    'wrong-members.ts',
    'a default export that is a function or an object',
    'object',
  ],
  ['an import that throws', 'import-throws.ts', 'REQUIRED_SETTING is not set', 'import-throws.ts'],
  ['a module that does not exist', 'not-there.ts', 'must be a module that loads', 'not-there.ts'],
  ['an open that fails', 'open-fails.ts', 'must open (options.table is missing)', 'open-fails.ts'],
])('%s is a problem of the configuration that says what is wrong', async (_name, module, rule, got) => {
  const error = await load(module).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ConfigError)) throw new Error('a ConfigError was expected');
  expect(error.problems).toHaveLength(1);
  expect(error.problems[0]).toMatchObject({ path: 'serializer.module', got });
  expect(error.problems[0]?.rule).toContain(rule);
});
