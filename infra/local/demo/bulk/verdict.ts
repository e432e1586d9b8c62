import type { TableDifference } from '../base/read-back.ts';
import { type Check, exactly } from '../base/verdict.ts';
import type { DeadLetter } from './dead-letters.ts';
import type { Expectation } from './truth.ts';
import { BROKEN_FATES } from './fates.ts';

/** What happened, from every side that can see some of it. */
export interface Observed {
  /** Confirmed publishes, and the records in them. */
  readonly messages: number;
  readonly records: number;
  /** The subscription's own counts: pushes, messages acknowledged, and those that are not. */
  readonly delivered: number;
  readonly acknowledged: number;
  readonly backlog: number;
  /** What the function reports of itself. */
  readonly applied: number;
  readonly skipped: number;
  /** `MutateRows` requests that it sent, and those of them that only looked for the entry to blame. */
  readonly requests: number;
  readonly requestsForIsolation: number;
  readonly deadLetters: readonly DeadLetter[];
  /** Rows of the held records: before their family was there, and after. */
  readonly heldRowsBefore: number;
  readonly heldRowsAfter: number;
  /** How often the function asked for a message again, by its reason; and how often not for a missing family. */
  readonly redelivered: ReadonlyMap<string, number>;
  readonly otherRedeliveries: number;
  /** Sampled rows that could not be read within the sampler's patience. */
  readonly unreadable: number;
  readonly table: TableDifference;
}

/**
 * Holds what happened against what must have. Pure. Deliveries are at least once, so where the function asked for a
 * message again, what it counted of itself may be more; what is in the table and in the dead letters may not be less.
 */
export function judge(expected: Expectation, observed: Observed): Check[] {
  const wasRepeated = observed.otherRedeliveries > 0;
  const counted = (what: string, got: number, mustBe: number): Check => ({
    ...exactly(what, got, mustBe),
    isRight: wasRepeated ? got >= mustBe : got === mustBe,
  });
  const letters = (fate: string): number => observed.deadLetters.filter((letter) => letter.fate === fate).length;
  const { table } = observed;
  return [
    exactly('records published', observed.records, expected.records),
    exactly('messages published', observed.messages, expected.messages),
    exactly('messages acknowledged', observed.acknowledged, expected.messages),
    exactly('messages left', observed.backlog, 0),
    counted('records applied, held ones included', observed.applied, expected.applied + expected.held),
    counted('records skipped: short hops', observed.skipped, expected.skipped),
    ...BROKEN_FATES.map((fate) => counted(`dead letters: ${fate}`, letters(fate), expected.deadLettered[fate])),
    exactly('dead letters of other records', otherLetters(observed.deadLetters), 0),
    exactly('held rows before their family is there', observed.heldRowsBefore, 0),
    exactly('held rows after it was added', observed.heldRowsAfter, expected.heldRows.size),
    exactly('sampled rows never readable', observed.unreadable, 0),
    exactly('rows read back', table.rowsRead, table.rowsExpected),
    exactly('rows missing', table.missingRows, 0),
    exactly('rows unexpected', table.unexpectedRows, 0),
    exactly('cells compared', table.cellsCompared, cellsExpected(expected)),
    exactly('cells different', table.differentCells, 0),
  ];
}

const otherLetters = (letters: readonly DeadLetter[]): number =>
  letters.filter(({ fate }) => !BROKEN_FATES.some((broken) => broken === fate)).length;

const cellsExpected = ({ rows }: Expectation): number => [...rows.values()].reduce((sum, cells) => sum + cells.size, 0);

/** How many dead letters came with each reason that the connector gave, in the order of appearance. */
export function countReasons(letters: readonly DeadLetter[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { reason } of letters) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return counts;
}
