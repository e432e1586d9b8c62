import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { GENERATED_FILES } from '../../infra/tooling/reference/generated-files.ts';

test.each(GENERATED_FILES)('$path is what `npm run $script` makes of the source', async ({ path, content }) => {
  const checkedIn = readFileSync(resolve(import.meta.dirname, '../..', path), 'utf8');
  expect(checkedIn).toBe(await content());
});
