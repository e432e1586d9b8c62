import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';

/** A file that fits in a head, and a folder that fits on a screen. Wire types are made by a tool and read by nobody. */

const ROOT = resolve(import.meta.dirname, '../..');
const MOST_LINES = 300;
const MOST_FILES = 20;

const files = ['functions', 'shared', 'infra'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1))
    .filter((path) => !path.startsWith('shared/proto/') && !path.includes('node_modules')),
);

test(`no source file is above ${MOST_LINES} lines`, () => {
  const linesOf = (path: string): number => readFileSync(join(ROOT, path), 'utf8').split('\n').length - 1;
  const long = files.filter((path) => path.endsWith('.ts')).map((path) => `${path}: ${linesOf(path)}`);
  expect(long.length).toBeGreaterThan(200);
  expect(long.filter((entry) => Number(entry.split(': ')[1]) > MOST_LINES)).toEqual([]);
});

test(`no folder of sources holds more than ${MOST_FILES} files`, () => {
  const counts = new Map<string, number>();
  for (const path of files) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  expect([...counts].filter(([, count]) => count > MOST_FILES)).toEqual([]);
});
