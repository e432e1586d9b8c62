import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { LETTER_NAMES, SCAN_LETTER_ATTRIBUTES } from '../../../shared/letters/attributes.ts';
import { deadLetterOf, MAX_MESSAGE_BYTES } from '../../../shared/letters/write.ts';
import { failedRecord } from '../../support/failed-record.ts';
import { recordOf } from '../../support/pushed-message.ts';

const root = resolve(import.meta.dirname, '../../..');

const files = ['functions', 'shared', 'infra']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  )
  .filter((name) => /\.(ts|md)$/.test(name) && !name.includes('node_modules') && !name.includes('/proto/'));

const known = new Set([...LETTER_NAMES, ...Object.values(SCAN_LETTER_ATTRIBUTES).map(({ name }) => name)]);

test('whatever sources and pages say of a letter are attributes that a letter has', () => {
  const unknown = [...files, 'README.md'].flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/\bdlq-[a-z]+(?:-[a-z]+)*\b/g)]
      .map(([name]) => name)
      .filter((name) => !known.has(name))
      .map((name) => `${file}: ${name}`),
  );
  expect(unknown).toEqual([]);
});

test('a letter has no attribute of its own that the table lacks', () => {
  const identity = '0'.repeat(32);
  const { attributes } = deadLetterOf(
    failedRecord({ identity, record: recordOf({ data: Buffer.alloc(MAX_MESSAGE_BYTES + 1) }) }),
    { pipeline: 'orders', payload: 'record' },
    0,
  );
  expect(Object.keys(attributes).filter((name) => !LETTER_NAMES.has(name))).toEqual([]);
  const absent = [...LETTER_NAMES].filter((name) => !Object.hasOwn(attributes, name));
  expect(absent).toEqual(['dlq-attributes-dropped']);
});
