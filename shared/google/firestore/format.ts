import type { DocumentSnapshot } from '@google-cloud/firestore';
import { type Bound, closedBound, openBound, type RowRange, UNBOUNDED } from '../../model/row-range.ts';
import { StoreError } from '../../model/store.ts';
import { type Fields, malformed, mapIn, numbersOf } from './fields.ts';

/** What the documents of all sources have in common. */

/** Of every document. One of a newer format was written by a later version of the connector, and is refused. */
export const FORMAT = 1;

export function knownFormat(snapshot: DocumentSnapshot, fields: Fields): Fields {
  const format = numbersOf(snapshot)(fields, 'format');
  if (format <= FORMAT) return fields;
  throw new StoreError(
    `read ${snapshot.ref.path}`,
    'DATA_LOSS',
    `it was written in format ${format} by a later version of the connector, and this one knows ${FORMAT}: deploy the later version for every function of the pipeline`,
  );
}

export const rangeFields = ({ start, end }: RowRange): Record<string, unknown> => ({
  start: boundFields(start),
  end: boundFields(end),
});

/** A bound is a map with its key under its kind, or an empty one. */
const boundFields = (bound: Bound): Record<string, unknown> =>
  bound.kind === 'unbounded' ? {} : { [bound.kind]: bound.key };

export const readRange = (snapshot: DocumentSnapshot, range: Fields): RowRange => ({
  start: readBound(snapshot, mapIn(snapshot, range, 'start')),
  end: readBound(snapshot, mapIn(snapshot, range, 'end')),
});

function readBound(snapshot: DocumentSnapshot, { closed, open }: Fields): Bound {
  if (closed === undefined && open === undefined) return UNBOUNDED;
  if (closed instanceof Uint8Array) return closedBound(closed);
  if (open instanceof Uint8Array) return openBound(open);
  throw malformed(snapshot, 'range', 'two bounds with bytes');
}
