import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { pageText } from '../examples/pages.ts';

/** The page that a newcomer reads first names what is there, and nothing else. */

const ROOT = resolve(import.meta.dirname, '../..');
const page = pageText('shared/docs/architecture.md');
const entries = ['functions', 'shared', 'infra', 'test'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true }).map((entry) => ({
    path: join(entry.parentPath, entry.name).slice(ROOT.length + 1),
    isFolder: entry.isDirectory(),
  })),
);
const files = entries.filter(({ isFolder }) => !isFolder).map(({ path }) => path);
const named = Array.from(page.matchAll(/`([^`\n]+)`/g), ([, code = '']) => code);

test('the glossary holds at most 40 terms, each once, and is the first thing on the page', () => {
  const [, glossary = ''] = /^# Architecture\n\n## Glossary\n(.*?)^## /ms.exec(page) ?? [];
  const terms = Array.from(glossary.matchAll(/^\| ([a-z][a-z -]*?) +\|/gm), ([, term = '']) => term).slice(1);
  expect(terms.length).toBeGreaterThan(20);
  expect(terms.length).toBeLessThanOrEqual(40);
  expect(new Set(terms).size).toBe(terms.length);
});

describe('rooms', () => {
  const isRoom = (path: string): boolean => !path.startsWith('shared/proto/') && !path.includes('node_modules');
  const rooms = entries
    .filter(({ path, isFolder }) => isFolder && !path.startsWith('test/') && isRoom(path))
    .map(({ path }) => path);

  test('every folder of functions, shared and infra has a row in a table of rooms in architecture.md', () => {
    expect(rooms.length).toBeGreaterThan(40);
    expect(rooms.filter((room) => !page.includes(`| \`${room}/\``))).toEqual([]);
  });

  test('every folder that the page names is there', () => {
    const folders = named.filter((code) => /^(functions|shared|infra|test)\/\S*\/$/.test(code));
    expect(folders.filter((folder) => !existsSync(join(ROOT, folder)))).toEqual([]);
  });
});

test('every room opens with a file that is in it', () => {
  const rows = Array.from(
    page.matchAll(/^\| `(\S+\/)` +\|.*\| `([\w./-]+)` +\|$/gm),
    ([, room = '', file = '']) => room + file,
  );
  expect(rows.length).toBeGreaterThan(30);
  expect(rows.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test('every file that the page names is in the tree', () => {
  const names = [...new Set(named.filter((code) => /^[\w./-]+\.(ts|md)$/.test(code)))].filter(
    (name) => !name.startsWith('.'),
  );
  expect(names.length).toBeGreaterThan(40);
  const isThere = (name: string): boolean =>
    files.some((path) => path === name || (!path.startsWith('test/') && path.endsWith(`/${name}`)));
  expect(names.filter((name) => !isThere(name))).toEqual([]);
});
