import { BROKEN_FATES, type BrokenFate, type Fate } from './fates.ts';
import { codedForm } from '../flights/form.ts';
import type { ExpectedRow } from '../base/read-back.ts';
import type { FlightForm } from './form.ts';
import type { PlannedMessage } from './plan.ts';

/**
 * What must have happened when the demo is over, computed from the plan alone: nothing here knows the serializer or
 * the mapping, or asks the connector, so a fault of either cannot hide in it.
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

/** A flight that is published twice gives the same cells twice: the second write replaces the first. */
export function expectedOutcome(plan: readonly PlannedMessage[], form: FlightForm = codedForm): Expectation {
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
      if (fate !== 'good' && fate !== 'unknown-family') continue;
      const rowKey = form.rowKeyOf(flight);
      rows.set(rowKey, form.cellsOf(flight, fate));
      if (fate === 'unknown-family') heldRows.add(rowKey);
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
