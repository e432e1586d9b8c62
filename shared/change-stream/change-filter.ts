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
  /** Whether changes of garbage collection are handed on. */
  readonly collected: 'include' | 'drop';
  /** Users' changes of these clusters alone; absent: of every one. Collections belong to none, and are not asked. */
  readonly sourceClusters?: readonly string[];
}

/** What is left of a change, or why nothing of it is handed on. The same object where nothing was left out. */
export type ChangeFilter = (change: Change) => Change | LeftOut;

/** `unwanted`: by its type or its cluster. `without-change`: no entry was left. */
export type LeftOut = 'unwanted' | 'without-change';

/**
 * Leaves out changes, and entries of changes. Pure: the same options make the same of a change, and a position is none of
 * its concern, so that other options move none. The library of patterns is loaded where there is a list.
 *
 * The function throws where an aggregate's qualifier is no bytes and a list of qualifiers has to decide about it. A change
 * that the service told without entries is no change without change: it is handed on.
 *
 * @throws {RE2JSSyntaxException} where a pattern is none of RE2.
 */
export async function changeFilter(options: ChangeFilterOptions): Promise<ChangeFilter> {
  const { skipMessagesWithoutChange, collected, sourceClusters } = options;
  const clusters = sourceClusters && new Set(sourceClusters);
  const passes = await entryFilter(options);
  return (change) => {
    const { type, sourceCluster, entries } = change;
    if (type === 'GARBAGE_COLLECTION' ? collected === 'drop' : clusters?.has(sourceCluster) === false)
      return 'unwanted';
    if (!passes || entries.every(passes)) return change;
    const left = passing(change, passes);
    return left.entries.length === 0 && skipMessagesWithoutChange ? 'without-change' : left;
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
async function entryFilter({
  families,
  qualifiers,
}: ChangeFilterOptions): Promise<((entry: ChangeEntry) => boolean) | undefined> {
  if (!families && !qualifiers) return undefined;
  const ofFamily = families && (await listFilter(families));
  const ofColumn = qualifiers && (await listFilter(qualifiers));
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

async function listFilter({ mode, patterns }: PatternList): Promise<(text: string) => boolean> {
  const { RE2JS } = await import('re2js');
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
