import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { METRICS } from '../../shared/base/metric-catalogue.ts';
import { documentedNames } from '../support/markdown-table.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../shared/docs/metrics.md'), 'utf8');

test('every metric of the catalogue is documented, and every documented metric is in the catalogue', () => {
  expect(documentedNames(page).toSorted()).toEqual(Object.keys(METRICS).toSorted());
});
