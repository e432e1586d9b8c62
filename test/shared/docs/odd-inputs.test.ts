import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { happens, oddInputsOf, saidOf } from '../../support/odd-inputs.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../../shared/docs/odd-inputs.md'), 'utf8');
const rows = oddInputsOf(page);

test('every table of the page is read, down to its last row', () => {
  const inTables = page.match(/^\|/gm)?.length ?? 0;
  const headed = new Set(rows.map(({ section }) => section)).size;
  expect(rows.length).toBe(inTables - 2 * headed);
  expect(headed).toBe(page.match(/^```yaml$/gm)?.length);
});

test.each(rows)('$section: $name becomes what the page says', async (row) => {
  const { word, codes } = saidOf(row);
  const seen = await happens(row);
  expect(seen.word).toBe(word);
  if (word === 'refused' || word === 'redelivered') expect(seen.lines).toEqual(codes);
  for (const code of codes) expect(seen.lines.join('\n')).toContain(code);
  expect(codes.length > 0 || word === 'skipped').toBe(true);
});
