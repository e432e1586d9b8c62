import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PAGES, pageText, proseOf } from '../examples/pages.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** Words that a reader would have to learn or to guess, and the words that say it. The glossary of architecture.md has ours. */
const BANNED: readonly (readonly [RegExp, string])[] = [
  [/\w*weather\w*/i, 'transient failure'],
  [/\bmend(s|ed|ing)?\b/i, 'fix'],
  [/\bfor\s+(\*\s+|\/\/\s+)?ever\b/i, 'forever'],
  [/\bthere where\b/i, 'where, or "present if"'],
  [/\b(comes?|came|coming) again\b/i, 'is redelivered, is sent again'],
  [/\bheal(s|ed|ing)?\b/i, 'fix, succeed'],
  [/\b(black|white)list\w*/i, 'deny list, allow list'],
  [/\butili[sz]e\w*/i, 'use'],
  [/\bleverag(e|es|ed|ing)\b/i, 'use'],
  [/\b(TODO|FIXME|XXX)\b/, 'an issue, or the work itself'],
];

/** Made by tools from somebody else's words. */
const GENERATED = ['/proto/', '.schema.json'];
const TEXTS = /\.(ts|js|md|ya?ml|sh|tf|html)$/;

const files = ['functions', 'shared', 'infra', 'test']
  .flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
  )
  .filter((path) => TEXTS.test(path) && !path.includes('node_modules') && !path.endsWith('words.test.ts'))
  .filter((path) => !GENERATED.some((part) => path.includes(part)))
  .concat('README.md');

describe('sources, pages, tests and their names', () => {
  test.each(BANNED)('do not say %s; they say: %s', (banned) => {
    const found = files.flatMap((path) => {
      if (banned.test(path)) return [path];
      const text = readFileSync(join(ROOT, path), 'utf8');
      const hit = banned.exec(text);
      return hit ? [`${path}:${text.slice(0, hit.index).split('\n').length}: ${hit[0]}`] : [];
    });
    expect(found).toEqual([]);
  });
});

test.each(PAGES)('a sentence of %s names its subject: none begins with What or Those', (page) => {
  const prose = proseOf(pageText(page))
    .split('\n')
    .filter((line) => !/^(#|\|)/.test(line))
    .join('\n');
  const found = Array.from(
    prose.matchAll(/(?:^|[.!:;]\s|\n\n|^- )\**((?:What|Those)\s[^.?!]*[.?!])/gms),
    ([, text = '']) => text,
  );
  expect(found.filter((sentence) => !sentence.endsWith('?'))).toEqual([]);
});

test('the meaning of an option or a metric names its subject: none begins with What or Those', () => {
  const meanings = ['options', 'mapping', 'metrics'].flatMap((page) =>
    Array.from(pageText(`shared/docs/${page}.md`).matchAll(/^\|.*\| ([^|]*?) +\|$/gm), ([, meaning = '']) => meaning),
  );
  expect(meanings.length).toBeGreaterThan(150);
  expect(meanings.filter((meaning) => /(^|[.:;] )(What|Those) /.test(meaning))).toEqual([]);
});
