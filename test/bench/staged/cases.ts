import type { BenchCase } from '../support/case.ts';
import { billedCase } from './billed/case.ts';
import { committersCase } from './committers/case.ts';
import { distinctRowsCase } from './distinct-rows/case.ts';
import { hotRowCase } from './hot-row/case.ts';
import { pushesCase } from './pushes/case.ts';
import { repeatsCase } from './repeats/case.ts';
import { stagingCase } from './staging/case.ts';
import { visibilityCase } from './visibility/case.ts';

/** Everything that `npm run bench -- staged` measures, in this order. */
export const STAGED_CASES: readonly BenchCase[] = [
  stagingCase,
  distinctRowsCase,
  pushesCase,
  committersCase,
  hotRowCase,
  repeatsCase,
  visibilityCase,
  billedCase,
];
