import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { loadModuleForm, moduleForm, type RowMessages } from '../../../../shared/scan/forms/module-form.ts';
import { cell, rowOf } from './rows.ts';

const modules = resolve(import.meta.dirname, '../../../support/modules');
const row = rowOf('k', cell('cf', 'q', 1000n, 'v'));

const recordsOf = (made: unknown, isPacked = false) => moduleForm((() => made) as RowMessages, isPacked).records(row);

test('a module makes any number of messages of a row, with attributes of their own or without', () => {
  expect(recordsOf([])).toEqual([]);
  const data = Buffer.from('a');
  expect(recordsOf([data, { data }, { data, attributes: { colour: 'red' } }])).toEqual([
    data,
    data,
    { data, attributes: { colour: 'red' } },
  ]);
});

test('the bytes of a message may be of any typed array of bytes', () => {
  const bytes = new Uint8Array([0, 1, 2, 3]).subarray(1, 3);
  expect(recordsOf([bytes])).toEqual([Buffer.from([1, 2])]);
});

test('a module sees the row as the service gave it', () => {
  const seen: unknown[] = [];
  moduleForm((given) => {
    seen.push(given);
    return [];
  }, false).records(row);
  expect(seen).toEqual([row]);
});

test('a module that writes into keys and qualifiers does not reach the position of the scan, nor other rows', () => {
  const form = moduleForm(({ key, cells }) => {
    key.fill(0);
    cells[0]?.qualifier.fill(0);
    return [];
  }, false);
  const mine = rowOf('key', cell('cf', 'q', 1000n, 'v'));
  form.records(mine);
  expect(mine).toEqual(rowOf('key', cell('cf', 'q', 1000n, 'v')));
});

test('what a module throws is the failure of the row, with its name and message', () => {
  const form = moduleForm(() => {
    throw new RangeError('no such thing');
  }, false);
  expect(() => form.records(row)).toThrow('the module threw RangeError: no such thing');
});

test.each([
  ['null', null, 'the module must return a list of messages, got null'],
  ['nothing', undefined, 'the module must return a list of messages, got nothing'],
  ['bytes', Buffer.from('a'), 'the module must return a list of messages, got a value of type object'],
  [
    'a list with a text',
    ['a'],
    'message 1 of the module must be bytes, or an object with bytes in "data", got a value',
  ],
  ['a list with null', [Buffer.from('a'), null], 'message 2 of the module must be bytes'],
  ['data that is a text', [{ data: 'a' }], 'message 1 of the module must be bytes'],
  [
    'attributes that are a list',
    [{ data: Buffer.from('a'), attributes: ['x'] }],
    'the attributes of message 1 of the module must be an object of texts, got a list',
  ],
  [
    'an attribute that is a number',
    [{ data: Buffer.from('a'), attributes: { n: 1 } }],
    'the attribute "n" of message 1 of the module must be a text, got a value of type number',
  ],
  [
    'an attribute of the scan',
    [{ data: Buffer.from('a'), attributes: { 'row-key': 'x' } }],
    'message 1 of the module has the attribute row-key, which the scan sets itself',
  ],
])('a module that returns %s fails the row by name', (_what, made, message) => {
  expect(() => recordsOf(made)).toThrow(message);
});

test('a module that answers with a promise fails the row, and nobody misses what the promise rejects with', () => {
  expect(() => recordsOf(Promise.reject(new Error('nobody hears it')))).toThrow(
    'the module must return a list of messages, got a promise: the module must answer at once',
  );
});

test('a line of a packed message has no attributes and is not empty: a module that makes such a record fails the row', () => {
  expect(() => recordsOf([{ data: Buffer.from('a'), attributes: { colour: 'red' } }], true)).toThrow(
    'message 1 of the module has attributes, which the lines of a message have not: set maxRecordsPerMessage to 1',
  );
  expect(() => recordsOf([Buffer.alloc(0)], true)).toThrow('message 1 of the module is empty, which makes no line');
});

test('a module is opened with its options before its first row', async () => {
  const form = await loadModuleForm({ module: './row-module.ts', options: { prefix: 'p' } }, modules, false);
  expect(form.records(row).map(String)).toEqual(['p:k']);
});

test.each([
  [
    'no-default.ts',
    'form.module: must have a default export that is a function or an object with a function "messages"',
  ],
  ['object-serializer.ts', 'form.module: must have a default export that is a function or an object with a function'],
  ['not-there.ts', 'form.module: must be a module that loads'],
])('the module %s is refused by the option that names it', async (module, message) => {
  await expect(loadModuleForm({ module }, modules, false)).rejects.toThrow(message);
});
