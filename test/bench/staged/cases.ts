import type { BenchCase } from '../support/case.ts';
import { distinctRowsCase } from './distinct-rows/case.ts';

/** Everything that `npm run bench -- staged` measures, in this order. */
export const STAGED_CASES: readonly BenchCase[] = [distinctRowsCase];
