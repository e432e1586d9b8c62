import type { LogFields, Severity } from '../../base/logging.ts';
import type { PlannedSplit, Section } from './plan-splits.ts';

/** One line of the log about a plan. It holds no row key. */
export interface PlanRemark {
  readonly severity: Severity;
  readonly message: string;
  readonly fields: LogFields;
}

/**
 * What a person should know of a plan: how large it is, and whether it keeps all slots busy. Pure.
 *
 * @param samples how many boundaries the table has.
 */
export function planRemarks(
  splits: readonly PlannedSplit[],
  { samples, parallelism }: { readonly samples: number; readonly parallelism: number },
): PlanRemark[] {
  const remarks: PlanRemark[] = [{ severity: 'INFO', message: 'the run is planned', fields: sizeOf(splits) }];
  if (samples === 0) {
    remarks.push({
      severity: 'INFO',
      message:
        'the table has no boundaries to cut ranges at: each range is one split. It has one tablet, or it is not on the service',
      fields: { splits: splits.length },
    });
  }
  if (splits.length < parallelism) {
    remarks.push({
      severity: 'WARNING',
      message:
        'the run has fewer splits than parallelism, so that some slots have nothing to read: the table probably has few tablets. Lower parallelism, or split the table before it grows',
      fields: { splits: splits.length, parallelism },
    });
  }
  return remarks;
}

/** Splits of one section are counted once, with the size of their section. */
function sizeOf(splits: readonly PlannedSplit[]): LogFields {
  const sections = [...new Set(splits.map(({ section }) => section))];
  const sizes = sections.flatMap(({ bytes }: Section) => (bytes === undefined ? [] : [bytes]));
  const known = sizes.toSorted((left, right) => (left < right ? -1 : Number(left > right)));
  return {
    splits: splits.length,
    ...(known.length > 0 && {
      bytes: Number(known.reduce((sum, bytes) => sum + bytes, 0n)),
      smallestBytes: Number(known[0]),
      largestBytes: Number(known.at(-1)),
    }),
    splitsOfUnknownSize: splits.filter(({ section }) => section.bytes === undefined).length,
  };
}
