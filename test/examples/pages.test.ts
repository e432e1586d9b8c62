import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { MAX_FILTER_DEPTH } from '../../shared/model/filter/filter.ts';
import { MAX_MUTATIONS, MAX_ROW_KEY_BYTES } from '../../shared/model/mutation.ts';
import { MAX_CORRELATION_ID_BYTES } from '../../shared/model/row-request.ts';
import { MAX_MESSAGE_BYTES } from '../../shared/letters/write.ts';
import { MAX_BODY_BYTES } from '../../shared/single-row/http/answer.ts';
import { MAX_WORK } from '../../shared/staged/checkpoint/work.ts';
import { MAX_ENVELOPE_BYTES, MAX_ENVELOPE_MUTATIONS } from '../../shared/staged/envelope/create-envelope.ts';
import { MAX_SEGMENT_BYTES } from '../../shared/staged/ports.ts';
import { MAX_COALESCED_ENVELOPES } from '../../shared/staged/write/coalesce.ts';
import { MAX_ATTEMPTS } from '../../shared/staged/write/marked-writes.ts';
import { anchorsOf, PAGES, pageText, proseOf } from './pages.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const WEB = /^(https?|mailto):/;

test.each(PAGES)('every link of %s leads to a file, and to a heading, that are there', (page) => {
  const broken = Array.from(proseOf(pageText(page)).matchAll(/\]\(([^)\s]+)\)/g), ([, link = '']) => link)
    .filter((link) => !WEB.test(link))
    .filter((link) => {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? page : join(dirname(page), path);
      if (!existsSync(resolve(ROOT, target))) return true;
      return anchor !== undefined && !anchorsOf(pageText(target)).includes(anchor);
    });
  expect(broken).toEqual([]);
});

/** A path of the tree; `x` stands for any folder. */
const PATH = /^(functions|shared|infra|test)\/(?!x\/)[\w./-]+$/;

test.each(PAGES)('every path that %s names is in the tree', (page) => {
  const paths = Array.from(pageText(page).matchAll(/`([^`\s]+)`/g), ([, code = '']) => code).filter((code) =>
    PATH.test(code),
  );
  expect(paths.filter((path) => !existsSync(resolve(ROOT, path)))).toEqual([]);
});

test('every page of shared/docs is in the index of the README', () => {
  const readme = pageText('README.md');
  const pages = PAGES.filter((page) => /^shared\/docs\/[^/]+\.md$/.test(page));
  expect(pages.length).toBeGreaterThan(8);
  expect(pages.filter((page) => !readme.includes(`](${page})`))).toEqual([]);
});

const limits: readonly [string, number][] = [
  ['row key', MAX_ROW_KEY_BYTES],
  ['mutations of an entry', MAX_MUTATIONS],
  ['mutations of an entry in a staged sink', MAX_ENVELOPE_MUTATIONS],
  ['envelope of a staged sink', MAX_ENVELOPE_BYTES],
  ['predicate of a row request', MAX_FILTER_DEPTH],
  ['body of ``', MAX_BODY_BYTES],
  ['dead letter', MAX_MESSAGE_BYTES],
  ['segment', MAX_SEGMENT_BYTES],
  ['work message, by a count and a sample', MAX_WORK.segments],
  ['work message, by a count and a sample', MAX_WORK.envelopes],
  ['work message, by a count and a sample', MAX_WORK.bytes / 1024 / 1024],
  ['envelopes of one row in a request', MAX_COALESCED_ENVELOPES],
  ['attempts of an envelope in an invocation', MAX_ATTEMPTS],
  ['``', MAX_CORRELATION_ID_BYTES],
];

test.each(limits)('the page of limits names the bound of the code: %s, %d', (what, bound) => {
  const row = proseOf(pageText('shared/docs/limits.md'))
    .split('\n')
    .filter((line) => line.split('|')[1]?.trim() === what);
  const numbers = Array.from(row.join('\n').matchAll(/\d[\d,]*\d|\d/g), ([number]) => number);
  expect(numbers).toContain(bound.toLocaleString('en-US'));
});
