import type { GcRule } from '../../proto/google/bigtable/admin/v2/table.ts';

/**
 * The least age, in milliseconds, at which a rule may take a cell; `Infinity` without a rule. Pure. A rule by versions
 * may take a cell of any age, and so may one that this version does not know.
 */
export function keptMillis(rule: GcRule | undefined): number {
  // A message without any rule in it is how the service shows "never".
  if (rule === undefined || (rule.rule === undefined && !hasUnknown(rule))) return Infinity;
  switch (rule.rule?.$case) {
    case 'maxAge':
      return Number(rule.rule.value.seconds) * 1000 + rule.rule.value.nanos / 1_000_000;
    case 'union':
      // Taken as soon as any of them takes it.
      return Math.min(...rule.rule.value.rules.map(keptMillis));
    case 'intersection':
      // Taken only when all of them take it.
      return Math.max(0, ...rule.rule.value.rules.map(keptMillis));
    case 'maxNumVersions':
    case undefined:
      return 0;
  }
}

const hasUnknown = ({ _unknownFields: fields }: GcRule): boolean =>
  fields !== undefined && Object.keys(fields).length > 0;
