import { RE2JS } from 're2js';
import type { Change, ChangeEntry } from '../model/change.ts';

/** Patterns of RE2, which a text has to match from its start to its end. */
export interface PatternList {
  /** `include`: what some of them match stays. `exclude`: what none of them matches stays. */
  readonly mode: 'include' | 'exclude';
  readonly patterns: readonly string[];
}

export interface ChangeFilterOptions {
  /** Of the family of an entry. */
  readonly families?: PatternList;
  /** Of `family:qualifier`, the qualifier in base64. Entries without one, which are deletes of families, pass. */
  readonly qualifiers?: PatternList;
  /** A change of which every entry is left out is left out whole, in place of being told without entries. */
  readonly skipMessagesWithoutChange: boolean;
  /** What becomes of changes of garbage collection. */
  readonly collected: 'include' | 'drop';
  /** Users' changes of these clusters alone; absent: of every one. Collections belong to none, and are not asked. */
  readonly sourceClusters?: readonly string[];
}

/** What is left of a change; undefined: nothing is handed on. The same object where nothing was left out. */
export type ChangeFilter = (change: Change) => Change | undefined;

/**
 * Leaves out changes, and entries of changes. Pure: the same options make the same of a change, and a position is none of
 * its concern, so that other options move none.
 *
 * The function throws where an aggregate's qualifier is no bytes and a list of qualifiers has to decide about it. A change
 * that the service told without entries is no change without change: it is handed on.
 *
 * @throws RE2JSSyntaxException where a pattern is none of RE2.
 */
export function changeFilter(options: ChangeFilterOptions): ChangeFilter {
  const { skipMessagesWithoutChange, collected, sourceClusters } = options;
  const clusters = sourceClusters && new Set(sourceClusters);
  const passes = entryFilter(options);
  return (change) => {
    const { type, sourceCluster, entries } = change;
    if (type === 'GARBAGE_COLLECTION' ? collected === 'drop' : clusters?.has(sourceCluster) === false) return undefined;
    if (!passes || entries.every(passes)) return change;
    const left = passing(change, passes);
    return left.entries.length === 0 && skipMessagesWithoutChange ? undefined : left;
  };
}

function passing(
  change: Change,
  passes: (entry: ChangeEntry) => boolean,
): Change & { readonly places: readonly number[] } {
  const entries: ChangeEntry[] = [];
  const places: number[] = [];
  change.entries.forEach((entry, index) => {
    if (!passes(entry)) return;
    entries.push(entry);
    places.push(change.places?.[index] ?? index);
  });
  return { ...change, entries, places };
}

/** Undefined where no entry is left out. */
function entryFilter({ families, qualifiers }: ChangeFilterOptions): ((entry: ChangeEntry) => boolean) | undefined {
  const ofFamily = families && listFilter(families);
  const ofColumn = qualifiers && listFilter(qualifiers);
  if (!ofFamily && !ofColumn) return undefined;
  return (entry) => {
    if (ofFamily && !ofFamily(entry.family)) return false;
    return !ofColumn || entry.kind === 'delete-family' || ofColumn(columnOf(entry));
  };
}

function columnOf(entry: Exclude<ChangeEntry, { readonly kind: 'delete-family' }>): string {
  const { family, qualifier } = entry;
  if (Buffer.isBuffer(qualifier)) return `${family}:${qualifier.toString('base64')}`;
  if (qualifier.kind === 'raw-value') return `${family}:${qualifier.value.toString('base64')}`;
  throw new Error(
    `an entry of the family ${family} has a qualifier of the kind ${qualifier.kind}, about which a list of qualifiers cannot decide: leave the family out, or use a list of families`,
  );
}

/** Decisions that are kept, because a table's columns are few. Those of a table with more are made anew. */
const MAX_KEPT = 10_000;

function listFilter({ mode, patterns }: PatternList): (text: string) => boolean {
  const compiled = patterns.map((pattern) => RE2JS.compile(pattern));
  const kept = new Map<string, boolean>();
  return (text) => {
    const known = kept.get(text);
    if (known !== undefined) return known;
    const passes = compiled.some((pattern) => pattern.testExact(text)) === (mode === 'include');
    if (kept.size >= MAX_KEPT) kept.clear();
    kept.set(text, passes);
    return passes;
  };
}
