import type { BenchCase } from '../support/case.ts';
import { badLinesCase } from './bad-lines/case.ts';
import { cbtImportCase } from './cbt-import/case.ts';
import { coldStartCase } from './cold-start/case.ts';
import { dataPlaneCase } from './data-plane/case.ts';
import { httpCase } from './http/case.ts';
import { stalledMemoryCase } from './stalled-memory/case.ts';

/** Everything that `npm run bench -- bulk` measures, in this order. */
export const BULK_CASES: readonly BenchCase[] = [
  dataPlaneCase,
  cbtImportCase,
  httpCase,
  badLinesCase,
  stalledMemoryCase,
  coldStartCase,
];
