import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { entryPoints } from '../../../shared/deployment/entry-points.ts';

const functions = resolve(import.meta.dirname, '../../../functions');
const read = (file: string): string => readFileSync(join(functions, file), 'utf8');

test('functions/index.ts loads exactly the entry points of the table, each from its file', () => {
  const LOADER = /^ {2}(\w+): async \(\) => \(await import\('\.\/([\w-]+\.ts)'\)\)\.(\w+),$/gm;
  const loaded = [...read('index.ts').matchAll(LOADER)].map(([, name, file, exported]) => ({ name, file, exported }));
  const declared = entryPoints.map(({ name, file }) => ({ name, file, exported: name }));
  expect(loaded).toHaveLength(declared.length);
  expect(loaded).toEqual(expect.arrayContaining(declared));
});

test('every entry point is exported by the file that the table names', () => {
  for (const { name, file } of entryPoints) expect(read(file)).toMatch(new RegExp(`^export const ${name}\\b`, 'm'));
});

test('what is called over and over by itself has a bound on its instances', () => {
  for (const { trigger, size } of entryPoints)
    if (trigger.kind === 'schedule') expect(size.maxInstances).toBeGreaterThan(0);
});
