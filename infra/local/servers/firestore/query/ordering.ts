import type { Value } from '../../../../../shared/proto/google/firestore/v1/document.ts';
import {
  StructuredQuery_Direction as Direction,
  StructuredQuery_FieldFilter_Operator as FieldOperator,
  StructuredQuery_UnaryFilter_Operator as UnaryOperator,
  type Cursor,
  type StructuredQuery,
  type StructuredQuery_Filter as Filter,
} from '../../../../../shared/proto/google/firestore/v1/query.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import type { StoredDocument } from '../documents/document.ts';
import { NAME_FIELD } from '../documents/field-path.ts';
import { compareTexts, compareValues } from '../documents/value-order.ts';
import { fieldReader, type FieldReader } from './fields.ts';

export interface OrderPart {
  readonly fieldPath: string;
  readonly isDescending: boolean;
  readonly read: FieldReader;
}

/** The whole order of a query; it ends with the document's name, so no two documents are equal in it. */
export type Ordering = readonly OrderPart[];

/**
 * The order that a query asks for and, after it, what the service adds: the fields of its inequalities in the order of
 * their paths, then the name, all in the direction of the last one asked for. Pure. @throws INVALID_ARGUMENT
 */
export function orderingOf({ orderBy, where }: StructuredQuery): Ordering {
  const parts = orderBy.map(({ field, direction }) =>
    orderPart(field?.fieldPath ?? '', direction === Direction.DESCENDING),
  );
  const isDescending = parts.at(-1)?.isDescending ?? false;
  const added = [...new Set(inequalityFields(where))].toSorted(compareTexts);
  for (const fieldPath of [...added.filter((path) => path !== NAME_FIELD), NAME_FIELD]) {
    if (!parts.some((part) => part.fieldPath === fieldPath)) parts.push(orderPart(fieldPath, isDescending));
  }
  return parts;
}

const orderPart = (fieldPath: string, isDescending: boolean): OrderPart => ({
  fieldPath,
  isDescending,
  read: fieldReader({ fieldPath }),
});

const INEQUALITIES: ReadonlySet<number> = new Set([
  FieldOperator.LESS_THAN,
  FieldOperator.LESS_THAN_OR_EQUAL,
  FieldOperator.GREATER_THAN,
  FieldOperator.GREATER_THAN_OR_EQUAL,
  FieldOperator.NOT_EQUAL,
  FieldOperator.NOT_IN,
]);
const UNARY_INEQUALITIES: ReadonlySet<number> = new Set([UnaryOperator.IS_NOT_NAN, UnaryOperator.IS_NOT_NULL]);

function inequalityFields(filter: Filter | undefined): string[] {
  const type = filter?.filterType;
  switch (type?.$case) {
    case 'compositeFilter':
      return type.value.filters.flatMap(inequalityFields);
    case 'fieldFilter':
      return INEQUALITIES.has(type.value.op) ? [type.value.field?.fieldPath ?? ''] : [];
    case 'unaryFilter':
      return UNARY_INEQUALITIES.has(type.value.op) ? [type.value.operandType?.value.fieldPath ?? ''] : [];
    case undefined:
      return [];
  }
}

/** What a document is ordered by, or undefined where it lacks one of the fields: then the query does not find it. */
export function positionOf(document: StoredDocument, ordering: Ordering): readonly Value[] | undefined {
  const values: Value[] = [];
  for (const { read } of ordering) {
    const value = read(document);
    if (value === undefined) return undefined;
    values.push(value);
  }
  return values;
}

/** Order of two positions; of a shorter one, as a cursor may be, only its own part counts. */
export function comparePositions(left: readonly Value[], right: readonly Value[], ordering: Ordering): number {
  for (const [at, { isDescending }] of ordering.entries()) {
    const a = left[at];
    const b = right[at];
    if (a === undefined || b === undefined) return 0;
    const order = compareValues(a, b);
    if (order !== 0) return isDescending ? -order : order;
  }
  return 0;
}

/** Whether a position lies between the cursors of a query. @throws INVALID_ARGUMENT for a cursor longer than the order */
export function withinCursors(
  { startAt, endAt }: Pick<StructuredQuery, 'startAt' | 'endAt'>,
  ordering: Ordering,
): (position: readonly Value[]) => boolean {
  for (const cursor of [startAt, endAt]) requireCursor(cursor, ordering);
  return (position) => {
    const afterStart = startAt ? comparePositions(position, startAt.values, ordering) : 1;
    const beforeEnd = endAt ? comparePositions(position, endAt.values, ordering) : -1;
    const isStarted = startAt?.before === false ? afterStart > 0 : afterStart >= 0;
    return isStarted && (endAt?.before === true ? beforeEnd < 0 : beforeEnd <= 0);
  };
}

function requireCursor(cursor: Cursor | undefined, ordering: Ordering): void {
  if (cursor && cursor.values.length > ordering.length) {
    throw new GrpcError('INVALID_ARGUMENT', `a cursor of ${cursor.values.length} values has more than the order`);
  }
}
