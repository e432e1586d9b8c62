import type { BenchCase } from '../support/case.ts';
import { publishCase } from './publish/case.ts';
import { readCase } from './read/case.ts';

/** The suite `scan`. */
export const SCAN_CASES: readonly BenchCase[] = [readCase, publishCase];
