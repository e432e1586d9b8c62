import type { Nanos } from '../../model/change.ts';
import type { RowRange } from '../../model/row-range.ts';
import { common, gapsIn, inOrder, isWithin, joined, overlaps, tiles } from './cover.ts';
import { Accumulator } from './accumulator.ts';
import { laterOf } from './close-partition.ts';
import { missingId, partitionId } from './ids.ts';
import { coveredBy, type Ledger, unfinishedLow } from './ledger.ts';
import { isOpen, type Missing, type Partition, type Token } from './partition.ts';
import { greatestOf, leastOf, nanosOf } from './position-of.ts';
import { clampToRetention } from './retention.ts';
import type { LedgerWrite } from './writes.ts';

/**
 * The safety net: parts of the key space that nobody reads, found by holding the service's partitions against the ledger.
 * Pure. Where tokens explain a gap it is recovered from them, and nothing is lost; where none do it is read again from the
 * last low watermark that is known.
 */

/** So long tokens wait for others before they are read on without them. Inclusive. */
export const TOKEN_GRACE_MILLIS = 2 * 60_000;

/** So long a gap stays before it is read again without tokens: nothing that only takes its time is read twice. Inclusive. */
export const TOKENLESS_GRACE_MILLIS = 20 * 60_000;

export interface Scan {
  readonly generation: number;
  /** The partitions of the service, normalised and told before the ledger was read. */
  readonly service: readonly RowRange[];
  readonly ledger: Ledger;
  /** Partitions that are done and still kept. */
  readonly done: readonly Partition[];
  readonly startTime: Nanos;
  /** Absent where it may not be read: then nothing is clamped. */
  readonly retentionMillis?: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A gap that somebody reads from now on. */
export interface Recovery {
  readonly partition: Partition;
  /** Where it was read to, as far as is known. Above it nothing is lost; a position above this one leaves something out. */
  readonly lost: Nanos;
  readonly how: 'tokens' | 'tokenless';
  /** The service keeps nothing as old as what was lost: what came between was not read by anybody. */
  readonly isClamped: boolean;
}

export interface Reconciliation {
  readonly recoveries: readonly Recovery[];
  /** What is missing after it. */
  readonly missing: readonly Missing[];
  /** For one commit, with the version of the topology that was read. None: everything is as it was. */
  readonly writes: readonly LedgerWrite[];
}

/** The parts of the service's partitions that nobody reads, in order. */
export function gapsOf(service: readonly RowRange[], covered: readonly RowRange[]): RowRange[] {
  const gaps: RowRange[] = [];
  for (const range of inOrder(service, (each) => each)) gaps.push(...gapsIn(range, [...covered, ...gaps]));
  return gaps;
}

/**
 * One look. What it says holds only if the topology is still as the ledger says: the commit asks for that. Where more than
 * 100 gaps need something at once, the others need it at the next look.
 */
export function reconcile(scan: Scan): Reconciliation {
  const recoveries: Recovery[] = [];
  const kept: Missing[] = unreported(scan);
  const known = new Set(scan.ledger.missing.map(({ value }) => value.id));
  let writes = 0;
  for (const gap of gapsOf(scan.service, coveredBy(scan.ledger))) {
    const outcome = lookAt(gap, scan);
    const isNew = outcome.missing.some(({ id }) => !known.has(id));
    if (isNew || outcome.recoveries.length > 0) writes += 1;
    if (writes <= MAX_GAPS) {
      recoveries.push(...outcome.recoveries);
      kept.push(...outcome.missing);
    } else kept.push(...knownIn(gap, scan));
  }
  return { recoveries, missing: kept, writes: writesOf(scan, recoveries, kept) };
}

/** Gaps for which one commit does something: each writes a few documents. */
const MAX_GAPS = 100;

function lookAt(gap: RowRange, scan: Scan): Pick<Reconciliation, 'recoveries' | 'missing'> {
  const missing = missingIn(gap, scan);
  const fromTokens = recoveredFromTokens(gap, missing, scan);
  if (fromTokens) return { recoveries: [fromTokens], missing: [] };
  const isDue = ({ firstObserved }: Missing): boolean => scan.now - firstObserved >= TOKENLESS_GRACE_MILLIS;
  const due = missing.filter(isDue);
  return {
    recoveries: joined(due.map(({ range }) => range)).map((range) => recoveredTokenless(range, due, scan)),
    missing: missing.filter((each) => !isDue(each)),
  };
}

/**
 * A gap by what is known of its parts. A part that was missing before keeps its timer, also where the service draws its
 * boundaries elsewhere by now; what was not begins one.
 */
function missingIn(gap: RowRange, scan: Scan): Missing[] {
  const old = knownIn(gap, scan);
  const fresh = gapsIn(
    gap,
    old.map(({ range }) => range),
  ).map((range) => firstSeen(range, scan));
  return inOrder([...old, ...fresh], ({ range }) => range);
}

const knownIn = (gap: RowRange, scan: Scan): Missing[] =>
  scan.ledger.missing
    .filter(({ value }) => overlaps(value.range, gap))
    .map(({ value }) => named(value, common(value.range, gap), scan));

function firstSeen(range: RowRange, scan: Scan): Missing {
  const { generation, now } = scan;
  return named({ id: '', generation, range, firstObserved: now, lowWatermark: lostIn(range, scan) }, range, scan);
}

/** The same name where it is the same part. */
function named(missing: Missing, range: RowRange, { generation, ledger }: Scan): Missing {
  const known = ledger.missing.find(({ value }) => tiles(value.range, [range]));
  return known ? known.value : { ...missing, range, id: missingId(generation, range, originOf(ledger)) };
}

/** Nothing that is made of one version of the topology is made of another. */
const originOf = ({ topology }: Ledger): string => `recovered/${topology.number}`;

/**
 * How far a part was read that nobody has. Whoever read a key last ended at a low watermark that its document tells, and of
 * all that read it that one is the highest; of the keys of the part the least counts. For keys of which no document is kept
 * the least of the ledger stands in, which is earlier than it need be.
 */
function lostIn(range: RowRange, { done, ledger, startTime }: Scan): Nanos {
  let left: readonly RowRange[] = [range];
  let lost: Nanos | undefined;
  for (const { range: read, position } of done.toSorted(byLowWatermark)) {
    if (!left.some((each) => overlaps(each, read))) continue;
    left = left.flatMap((each) => gapsIn(each, [read]));
    lost = position.lowWatermark;
    if (left.length === 0) return lost;
  }
  return leastOf([ledgerLow(ledger) ?? startTime, ...(lost === undefined ? [] : [lost])]) ?? startTime;
}

/** Of everything that is read or waits to be. */
const ledgerLow = (ledger: Ledger): Nanos | undefined => unfinishedLow({ ...ledger, missing: [] });

const byLowWatermark = ({ position: left }: Partition, { position: right }: Partition): number =>
  left.lowWatermark > right.lowWatermark ? -1 : left.lowWatermark < right.lowWatermark ? 1 : 0;

/** Tokens that wait and make up the gap exactly: none of them sticks out of it. */
function recoveredFromTokens(gap: RowRange, missing: readonly Missing[], scan: Scan): Recovery | undefined {
  const oldest = Math.min(...missing.map(({ firstObserved }) => firstObserved));
  if (scan.now - oldest < TOKEN_GRACE_MILLIS) return undefined;
  const merges = scan.ledger.merges.map(({ value }) => value);
  const offered = merges.flatMap((merge) =>
    merge.tokens.filter(({ range }) => isWithin(range, gap)).map((token) => ({ token, merge })),
  );
  const { tokens } = new Accumulator(
    gap,
    offered.map(({ token }) => token),
  );
  if (
    !tiles(
      gap,
      tokens.map(({ range }) => range),
    )
  )
    return undefined;
  const from = [...missing, ...offered.map(({ merge }) => merge)].map(({ lowWatermark }) => lowWatermark);
  const lowWatermark = leastOf(from) ?? scan.startTime;
  const restarted = offered.map(({ merge }) => merge.restarted).reduce(laterOf, undefined);
  const partition = recovered(gap, tokens, lowWatermark, scan);
  return {
    ...{ how: 'tokens', lost: lowWatermark, isClamped: false },
    partition: { ...partition, ...(restarted && { restarted }) },
  };
}

function recoveredTokenless(range: RowRange, missing: readonly Missing[], scan: Scan): Recovery {
  const within = missing.filter((each) => isWithin(each.range, range));
  const lost = leastOf(within.map(({ lowWatermark }) => lowWatermark)) ?? scan.startTime;
  const { lowWatermark, isClamped } = clampToRetention(lost, scan);
  const observed = within.map(({ firstObserved }) => nanosOf(firstObserved));
  const until = greatestOf([lowWatermark, ...observed]) ?? lowWatermark;
  const partition = recovered(range, [], lowWatermark, scan);
  return { how: 'tokenless', lost, isClamped, partition: { ...partition, restarted: { how: 'tokenless', until } } };
}

function recovered(range: RowRange, tokens: readonly Token[], lowWatermark: Nanos, scan: Scan): Partition {
  const { generation, ledger, now } = scan;
  const open = ledger.partitions.filter(({ value }) => isOpen(value));
  return {
    id: partitionId(generation, range, tokens, originOf(ledger)),
    ...{ generation, range, position: { tokens, lowWatermark }, failures: 0 },
    // Whatever was missing has waited long enough.
    round: open.reduce((least, { value }) => Math.min(least, value.round), open[0]?.value.round ?? 0),
    state: { kind: 'waiting', since: now },
  };
}

/** What is missing and what the service did not name this time: it stays so. */
function unreported(scan: Scan): Missing[] {
  const elsewhere = [...coveredBy(scan.ledger), ...scan.service];
  return scan.ledger.missing.flatMap(({ value }) =>
    gapsIn(value.range, elsewhere).map((range) => named(value, range, scan)),
  );
}

/** The recovered parts leave the missing in the same commit; so do their tokens those that wait, or they were read twice. */
function writesOf(scan: Scan, recoveries: readonly Recovery[], kept: readonly Missing[]): LedgerWrite[] {
  const { ledger } = scan;
  const names = new Set(kept.map(({ id }) => id));
  const known = new Set(ledger.missing.map(({ value }) => value.id));
  const changes: LedgerWrite[] = [
    ...recoveries.map(({ partition }): LedgerWrite => ({ kind: 'new-partition', partition })),
    ...ledger.merges.flatMap(({ value, version }): LedgerWrite[] => {
      const tokens = value.tokens.filter(
        ({ range }) => !recoveries.some(({ partition }) => overlaps(partition.range, range)),
      );
      if (tokens.length === value.tokens.length) return [];
      if (tokens.length === 0) return [{ kind: 'merge-gone', id: value.id, version }];
      return [{ kind: 'merge', merge: { ...value, tokens }, version }];
    }),
    ...kept.flatMap((missing): LedgerWrite[] =>
      known.has(missing.id) ? [] : [{ kind: 'missing', missing, version: undefined }],
    ),
    ...ledger.missing.flatMap(({ value, version }): LedgerWrite[] =>
      names.has(value.id) ? [] : [{ kind: 'missing-gone', id: value.id, version }],
    ),
  ];
  if (changes.length === 0) return [];
  return [...changes, { kind: 'topology-moved-from', version: ledger.topology.version }];
}
