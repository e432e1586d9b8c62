import { formatPath, type Path } from '../../problems.ts';
import type { Readable } from '../../read.ts';
import { formatDuration } from '../../units.ts';
import { IN_FLIGHT_WARNINGS } from '../../options/writer.ts';
import { deadLetterHasItsPolicy, type Rule, sinkRules } from '../sink/rules.ts';
import type { BulkSinkOptions } from './options.ts';

/** Rules between the options of a bulk sink. */
export const bulkSinkRules: readonly Rule<BulkSinkOptions>[] = [
  ...sinkRules,
  deadLetterHasItsPolicy,
  function creationHasItsDisposition({ options: { createDisposition }, isSet }) {
    const isWanted = createDisposition === 'create-if-needed';
    if (createDisposition === undefined || isWanted === isSet('tableCreateOptions')) return [];
    return isWanted
      ? [{ at: ['tableCreateOptions'], rule: 'is required by the createDisposition create-if-needed' }]
      : [
          {
            at: ['createDisposition'],
            rule: 'must be "create-if-needed" where tableCreateOptions is set',
            got: createDisposition,
          },
        ];
  },
  function backoffsGrow({ options: { writerOptions: writer } }) {
    return (['retry', 'recovery'] as const).flatMap((name) => {
      const [initial, max] = [writer?.[`${name}InitialBackoff`], writer?.[`${name}MaxBackoff`]];
      if (initial === undefined || max === undefined || initial <= max) return [];
      const rule = `must be at least ${name}InitialBackoff (${formatDuration(initial)})`;
      return [{ at: ['writerOptions', `${name}MaxBackoff`], rule, got: formatDuration(max) }];
    });
  },
];

/** Above these the instance's memory, not the option, is what bounds the sink: that works, and is worth a warning. */
export function inFlightWarnings({ writerOptions: writer }: Readable<BulkSinkOptions>, path: Path): string[] {
  return Object.entries(IN_FLIGHT_WARNINGS).flatMap(([key, limit]) => {
    const value = writer?.[key as keyof typeof IN_FLIGHT_WARNINGS];
    if (value === undefined || value <= limit) return [];
    const where = formatPath([...path, 'writerOptions', key]);
    return `${where}: ${value} is above ${limit}, what official clients keep in flight; the memory of the instance, not this option, may be what bounds the sink`;
  });
}
