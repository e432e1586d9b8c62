import type { BenchCase } from '../support/case.ts';
import { billedScanCase } from './billed/case.ts';
import { scanMemoryCase } from './memory/case.ts';
import { publishCase } from './publish/case.ts';
import { readCase } from './read/case.ts';
import { slotsCase } from './slots/case.ts';
import { wholeCase } from './whole/case.ts';

/** The suite `scan`. */
export const SCAN_CASES: readonly BenchCase[] = [
  readCase,
  publishCase,
  wholeCase,
  scanMemoryCase,
  billedScanCase,
  slotsCase,
];
