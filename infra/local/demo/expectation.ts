import type { Flight } from './flights.ts';
import { BROKEN_FATES, departureMicros, rowKeyOf, type BrokenFate, type Fate, type PlannedMessage } from './plan.ts';

/**
 * What must have happened when the demo is over, computed from the plan alone: nothing here knows the serializer or
 * asks the connector, so a fault of either cannot hide in it.
 */
export interface Expectation {
  /** Messages and records published, copies counted. */
  readonly messages: number;
  readonly records: number;
  /** Entries that Bigtable must take, copies counted; those that wait for their family are not among them. */
  readonly applied: number;
  readonly skipped: number;
  readonly deadLettered: Readonly<Record<BrokenFate, number>>;
  /** Messages of one record each that wait for their family. */
  readonly held: number;
  /** The table when the held records are applied too: row key → cell address → value in hexadecimal. */
  readonly rows: ReadonlyMap<string, ExpectedRow>;
  /** Row keys of the held records. */
  readonly heldRows: ReadonlySet<string>;
}

/** `family:qualifier@timestampMicros` → value in hexadecimal: one version of one cell. */
export type ExpectedRow = ReadonlyMap<string, string>;

export function expectedOutcome(plan: readonly PlannedMessage[]): Expectation {
  const counts = new Map<Fate, number>();
  const rows = new Map<string, ExpectedRow>();
  const heldRows = new Set<string>();
  let messages = 0;
  let records = 0;
  for (const { copies, records: planned } of plan) {
    messages += copies;
    records += copies * planned.length;
    for (const { fate, flight } of planned) {
      counts.set(fate, (counts.get(fate) ?? 0) + copies);
      const family = fate === 'good' ? 'flight' : fate === 'unknown-family' ? 'review' : undefined;
      if (family !== undefined) rows.set(rowKeyOf(flight), expectedRow(flight, family));
      if (fate === 'unknown-family') heldRows.add(rowKeyOf(flight));
    }
  }
  const count = (fate: Fate): number => counts.get(fate) ?? 0;
  return {
    messages,
    records,
    applied: count('good'),
    skipped: count('short-hop'),
    deadLettered: Object.fromEntries(BROKEN_FATES.map((fate) => [fate, count(fate)])) as Record<BrokenFate, number>,
    held: count('unknown-family'),
    rows,
    heldRows,
  };
}

/** A flight that is published twice gives the same cells twice: the second write replaces the first. */
function expectedRow(flight: Flight, family: string): ExpectedRow {
  const at = departureMicros(flight).toString();
  const summary = `${flight.distance} miles, ${flight.delay} minutes late`;
  return new Map([
    [`${family}:delay@${at}`, bigEndianHex(flight.delay)],
    [`${family}:distance@${at}`, bigEndianHex(flight.distance)],
    [`${family}:summary@${at}`, Buffer.from(summary).toString('hex')],
  ]);
}

/** Two's complement of 64 bits, most significant byte first. */
const bigEndianHex = (value: number): string => BigInt.asUintN(64, BigInt(value)).toString(16).padStart(16, '0');
