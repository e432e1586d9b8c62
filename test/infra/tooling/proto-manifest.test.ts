import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { MANIFEST_PATH, protoManifest } from '../../../infra/tooling/proto-manifest.ts';

/** Where this fails, `npm run proto` makes the tree anew; `npm run proto -- --check` compares with the generator itself. */
const checkedIn: unknown = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../..', MANIFEST_PATH), 'utf8'));

test('the generated wire types are as `npm run proto` made them of the protos that are installed', () => {
  expect(protoManifest()).toEqual(checkedIn);
});
