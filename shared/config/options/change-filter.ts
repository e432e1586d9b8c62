import { RE2JS } from 're2js';
import * as z from 'zod';
import { choice, declare, flag, notBlank, type Output } from '../option.ts';
import type { BrokenRule, Rule } from '../rules.ts';

/** Which changes a source hands on, and which of their entries. None of it moves a position. */

const texts = (rule: string) => z.array(z.string({ error: rule }), { error: 'must be a list of texts' }).prefault([]);

const patterns = (about: string) =>
  declare(texts('must be a text'), about, { type: 'list', default: '[]', bounds: 'regular expressions of RE2' });

export const changeFilterOptions = {
  familyIncludeList: patterns(
    'Families whose entries are handed on: a pattern matches the whole name of a family. Without any, all of them.',
  ),
  familyExcludeList: patterns(
    'Families whose entries are left out: a pattern matches the whole name of a family. Not beside familyIncludeList.',
  ),
  qualifierIncludeList: patterns(
    'Columns whose entries are handed on: a pattern matches the whole of "family:qualifier", the qualifier in base64, padded and in the standard alphabet. Without any, all of them. The delete of a family is of every column, and stays.',
  ),
  qualifierExcludeList: patterns(
    'Columns whose entries are left out, matched as qualifierIncludeList is. Not beside qualifierIncludeList.',
  ),
  skipMessagesWithoutChange: flag(
    'Whether a change of which the lists leave no entry is left out whole. Otherwise it is a message without entries. A change that the service told without entries is handed on in any case.',
    false,
  ),
  collected: choice(
    'Policy for the changes of garbage collection: they are handed on, or left out.',
    ['include', 'drop'],
    'include',
  ),
  sourceClusters: declare(
    texts('must be a text'),
    'Ids of the clusters whose writes are handed on. Without any, those of all clusters. Collections are of no cluster, and are not asked.',
    { type: 'list', default: '[]', bounds: 'ids of clusters' },
  ),
};

export type ChangeFilterInput = Output<typeof changeFilterOptions>;

/** Never empty. */
interface ResolvedPatterns {
  readonly mode: 'include' | 'exclude';
  readonly patterns: readonly string[];
}

export interface ResolvedChangeFilter {
  readonly families?: ResolvedPatterns;
  readonly qualifiers?: ResolvedPatterns;
  readonly skipMessagesWithoutChange: boolean;
  readonly collected: 'include' | 'drop';
  /** Never empty. */
  readonly sourceClusters?: readonly string[];
}

/** Undefined where everything is handed on. */
export function changeFilterOf(options: ChangeFilterInput): ResolvedChangeFilter | undefined {
  const { skipMessagesWithoutChange, collected, sourceClusters } = options;
  const families = patternsOf(options.familyIncludeList, options.familyExcludeList);
  const qualifiers = patternsOf(options.qualifierIncludeList, options.qualifierExcludeList);
  if (!families && !qualifiers && collected === 'include' && sourceClusters.length === 0) return undefined;
  return {
    ...(families && { families }),
    ...(qualifiers && { qualifiers }),
    skipMessagesWithoutChange,
    collected,
    ...(sourceClusters.length > 0 && { sourceClusters }),
  };
}

function patternsOf(include: readonly string[], exclude: readonly string[]): ResolvedPatterns | undefined {
  if (include.length > 0) return { mode: 'include', patterns: include };
  return exclude.length > 0 ? { mode: 'exclude', patterns: exclude } : undefined;
}

const LISTS = [
  ['familyIncludeList', 'familyExcludeList'],
  ['qualifierIncludeList', 'qualifierExcludeList'],
] as const;

export const changeFilterRules: readonly Rule<ChangeFilterInput>[] = [
  function listsIncludeOrExclude({ options }) {
    return LISTS.filter(([include, exclude]) => options[include]?.length && options[exclude]?.length).map(
      ([include, exclude]) => ({
        at: [exclude],
        rule: `must not be set beside ${include}: name those to hand on, or those to leave out`,
      }),
    );
  },
  function patternsAreOfRe2({ options }) {
    return LISTS.flat().flatMap((name) =>
      (options[name] ?? []).flatMap((pattern, index): BrokenRule[] =>
        isRe2(pattern)
          ? []
          : [
              {
                at: [name, index],
                rule: 'must be a regular expression of RE2, which has no look-around and no back reference',
              },
            ],
      ),
    );
  },
  function clustersAreNamed({ options: { sourceClusters = [] } }) {
    return sourceClusters.flatMap((cluster, index) => {
      const rule = notBlank(cluster);
      return rule === undefined ? [] : [{ at: ['sourceClusters', index], rule }];
    });
  },
];

function isRe2(pattern: string): boolean {
  try {
    RE2JS.compile(pattern);
    return true;
  } catch {
    return false;
  }
}
