import type { Nanos } from '../../model/change.ts';
import { formatNanos } from './retention.ts';

/**
 * Why a source that was started may not have another end. Partitions that were read to the old one would never be read again,
 * and readers that are at work go by the old one for as long as their sessions last: nobody would know. Undefined where the
 * end is the same.
 */
export function changedEndProblem(before: Nanos | undefined, asked: Nanos | undefined): string | undefined {
  if (before === asked) return undefined;
  return `the end of the run changed from ${endText(before)} to ${endText(asked)}, and what was read to the old one would not be read on: set it back, or start the source anew`;
}

const endText = (end: Nanos | undefined): string => (end === undefined ? 'none' : formatNanos(end));
