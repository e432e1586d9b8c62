import type { Nanos } from '../../model/change.ts';
import { formatNanos } from './retention.ts';

/**
 * Why a run may not have another end than the one it was started with: partitions that were read to the old one would never
 * be read again, and nobody would know. Undefined where the end is the same, or where no partition is read to it yet.
 */
export function changedEndProblem(
  before: Nanos | undefined,
  asked: Nanos | undefined,
  isAnyFinished: boolean,
): string | undefined {
  if (before === asked || !isAnyFinished) return undefined;
  return `the end of the run changed from ${endText(before)} to ${endText(asked)}, and partitions are read to the old one already: set it back, or start the source anew`;
}

const endText = (end: Nanos | undefined): string => (end === undefined ? 'none' : formatNanos(end));
