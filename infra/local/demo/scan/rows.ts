import type { RowChange } from '../../servers/bigtable/rows/table-copy.ts';
import type { Flight } from '../base/flights.ts';
import { departureMicros, summaryOf } from '../bulk/form.ts';

/** The table that is scanned: flights as rows, with one that is too large and one that the module refuses. Pure. */

type Mutation = RowChange['mutations'][number];

export interface TablePlan {
  readonly rows: number;
  /** The key of the row that the service will not read for its size. */
  readonly largeKey: string;
  /** The key of the row that the module throws at. */
  readonly refusedKey: string;
}

export const FAMILY = 'flight';
/** Of so many flights one has two versions of its delay. */
const ESTIMATED_EVERY = 10;
/** The older version of a delay was written a minute before departure. */
const ESTIMATED_BEFORE_MICROS = 60_000_000n;

/** Where in the table the two odd rows are, as shares of it. */
const LARGE_AT = 0.31;
const REFUSED_AT = 0.62;

/** A flight's row key: its number behind two digits that spread neighbours over the tablets. */
export const rowKeyOf = (number: number): string =>
  `${((number * 37) % 256).toString(16).padStart(2, '0')}#${String(number).padStart(7, '0')}`;

export const planTable = (rows: number): TablePlan => ({
  rows,
  largeKey: rowKeyOf(Math.floor(rows * LARGE_AT)),
  refusedKey: rowKeyOf(Math.floor(rows * REFUSED_AT)),
});

/**
 * The rows, by the number of their flight: after the last one the set begins again, under further numbers.
 *
 * @param largeBytes how large a value makes a row too large.
 */
export function* tableRows(
  flights: readonly Flight[],
  { rows, largeKey, refusedKey }: TablePlan,
  largeBytes: number,
): Generator<RowChange> {
  const values = new Values();
  for (let number = 0; number < rows; number += 1) {
    const flight = { ...(flights[number % flights.length] as Flight), number };
    const key = rowKeyOf(number);
    const mutations = cellsOf(flight, values);
    if (key === largeKey) mutations.push(setCell('track', departureMicros(flight), Buffer.alloc(largeBytes)));
    // No number of eight bytes: what writes a table does not always know who will read it.
    if (key === refusedKey) mutations.push(setCell('distance', departureMicros(flight), Buffer.from('far')));
    yield { rowKey: Buffer.from(key), mutations };
  }
}

function cellsOf(flight: Flight, values: Values): Mutation[] {
  const at = departureMicros(flight);
  const { number, delay, distance } = flight;
  const cells = [
    setCell('delay', at, values.int64(delay)),
    setCell('distance', at, values.int64(distance)),
    setCell('summary', at, Buffer.from(summaryOf(flight))),
  ];
  if (number % ESTIMATED_EVERY === 0) cells.push(setCell('delay', at - ESTIMATED_BEFORE_MICROS, values.int64(0)));
  return cells;
}

const setCell = (qualifier: string, timestampMicros: bigint, value: Buffer): Mutation => ({
  mutation: {
    $case: 'setCell',
    value: { familyName: FAMILY, columnQualifier: Buffer.from(qualifier), timestampMicros, value },
  },
});

/** Flights share few delays and distances, and a table in memory may share their bytes. */
class Values {
  readonly #known = new Map<number, Buffer>();

  int64(value: number): Buffer {
    const known = this.#known.get(value);
    if (known) return known;
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64BE(BigInt(value));
    this.#known.set(value, bytes);
    return bytes;
  }
}
