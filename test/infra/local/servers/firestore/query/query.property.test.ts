import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  DocumentStore,
  type DocumentView,
} from '../../../../../../infra/local/servers/firestore/documents/document-store.ts';
import type { StoredDocument } from '../../../../../../infra/local/servers/firestore/documents/document.ts';
import { Snapshot } from '../../../../../../infra/local/servers/firestore/documents/snapshot.ts';
import { compileQuery, runQuery } from '../../../../../../infra/local/servers/firestore/query/query.ts';
import type { Value } from '../../../../../../shared/proto/google/firestore/v1/document.ts';
import type {
  StructuredQuery,
  StructuredQuery_Filter,
} from '../../../../../../shared/proto/google/firestore/v1/query.ts';
import { integer, ROOT, text } from '../../../../../support/firestore-raw-client.ts';

/** The model: plain numbers and texts, absent where undefined. */
type Plain = number | string;
type PlainDocument = Readonly<Partial<Record<Field, Plain>>>;
type Field = 'x' | 'y';
type Operator = '==' | '!=' | '<' | '<=' | '>' | '>=';

interface PlainQuery {
  readonly filters: readonly { readonly field: Field; readonly op: Operator; readonly operand: Plain }[];
  readonly order: { readonly field: Field; readonly isDescending: boolean } | undefined;
  readonly startAt: { readonly value: Plain; readonly isInclusive: boolean } | undefined;
  readonly offset: number;
  readonly limit: number | undefined;
}

const plain = fc.oneof(fc.integer({ min: 0, max: 4 }), fc.constantFrom('', 'a', 'b'));
const field = fc.constantFrom<Field[]>('x', 'y');
const documents = fc.dictionary(
  fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
  fc.record({ x: plain, y: plain }, { requiredKeys: [] }),
  { maxKeys: 8 },
);
const queries: fc.Arbitrary<PlainQuery> = fc.record({
  filters: fc.array(
    fc.record({ field, op: fc.constantFrom<Operator[]>('==', '!=', '<', '<=', '>', '>='), operand: plain }),
    { maxLength: 2 },
  ),
  order: fc.option(fc.record({ field, isDescending: fc.boolean() }), { nil: undefined }),
  startAt: fc.option(fc.record({ value: plain, isInclusive: fc.boolean() }), { nil: undefined }),
  offset: fc.integer({ min: 0, max: 2 }),
  limit: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
});

const valueOf = (value: Plain): Value => (typeof value === 'number' ? integer(BigInt(value)) : text(value));

const OPERATORS = { '<': 1, '<=': 2, '>': 3, '>=': 4, '==': 5, '!=': 6 } as const;

function structured({ filters, order, startAt, offset, limit }: PlainQuery): StructuredQuery {
  const conditions = filters.map(({ field: fieldPath, op, operand }): StructuredQuery_Filter => {
    const filter = { field: { fieldPath }, op: OPERATORS[op], value: valueOf(operand) };
    return { filterType: { $case: 'fieldFilter', value: filter } };
  });
  return {
    select: undefined,
    from: [{ collectionId: 'c', allDescendants: false }],
    where:
      conditions.length === 0
        ? undefined
        : { filterType: { $case: 'compositeFilter', value: { op: 1, filters: conditions } } },
    orderBy: order ? [{ field: { fieldPath: order.field }, direction: order.isDescending ? 2 : 1 }] : [],
    startAt: order && startAt && { values: [valueOf(startAt.value)], before: startAt.isInclusive },
    endAt: undefined,
    offset,
    limit,
    findNearest: undefined,
  };
}

/** Numbers come before texts. */
const comparePlain = (a: Plain, b: Plain): number => {
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
};

function holds(value: Plain | undefined, op: Operator, operand: Plain): boolean {
  if (value === undefined) return false;
  if (op === '==' || op === '!=') return (value === operand) === (op === '==');
  if (typeof value !== typeof operand) return false;
  return { '<': value < operand, '<=': value <= operand, '>': value > operand, '>=': value >= operand }[op];
}

/** The ids that a query finds, by the simplest means. */
function naive(all: Readonly<Record<string, PlainDocument>>, query: PlainQuery): string[] {
  const { filters, order, startAt, offset, limit } = query;
  const isDescending = order?.isDescending ?? false;
  const unequal = filters.filter(({ op }) => op !== '==').map((filter) => filter.field);
  const fields = [...new Set([...(order ? [order.field] : []), ...unequal.toSorted()])];
  const found = Object.entries(all)
    .filter(([, document]) => filters.every((filter) => holds(document[filter.field], filter.op, filter.operand)))
    .filter(([, document]) => fields.every((name) => document[name] !== undefined))
    .toSorted(([leftId, left], [rightId, right]) => {
      const orders = fields.map((name) => comparePlain(left[name]!, right[name]!));
      const ascending = orders.find((each) => each !== 0) ?? comparePlain(leftId, rightId);
      return isDescending ? -ascending : ascending;
    })
    .filter(([, document]) => {
      if (!order || !startAt) return true;
      const distance = comparePlain(document[order.field]!, startAt.value) * (isDescending ? -1 : 1);
      return startAt.isInclusive ? distance >= 0 : distance > 0;
    });
  return found.slice(offset, limit === undefined ? undefined : offset + limit).map(([id]) => id);
}

const storedDocument = (id: string, document: PlainDocument): StoredDocument => ({
  name: `${ROOT}/c/${id}`,
  fields: Object.fromEntries(Object.entries(document).map(([name, value]) => [name, valueOf(value)])),
  createTimeMicros: 1n,
  updateTimeMicros: 1n,
});

const idsFound = (view: DocumentView, query: PlainQuery): string[] =>
  runQuery(view, compileQuery(ROOT, structured(query))).documents.map(({ name }) => name.slice(`${ROOT}/c/`.length));

/** Makes the documents of a store these and no others; tells the snapshot. */
function replaceAll(store: DocumentStore, all: Readonly<Record<string, PlainDocument>>, snapshot?: Snapshot): void {
  const wanted = Object.entries(all).map(([id, document]) => storedDocument(id, document));
  const present = [...store.documents(`${ROOT}/c`, 'ascending')];
  const gone = present.filter(({ name }) => !wanted.some((document) => document.name === name));
  const changes = [
    ...wanted.map((after) => ({ name: after.name, before: store.get(after.name), after })),
    ...gone.map((before) => ({ name: before.name, before, after: undefined })),
  ];
  snapshot?.keep(changes);
  store.apply(changes);
}

test('a query finds what a scan of all documents finds', () => {
  fc.assert(
    fc.property(documents, queries, (all, query) => {
      const store = new DocumentStore();
      replaceAll(store, all);
      expect(idsFound(store, query)).toEqual(naive(all, query));
    }),
    { numRuns: 2000 },
  );
});

test('a snapshot answers as the documents were, whatever is committed after it', () => {
  fc.assert(
    fc.property(documents, fc.array(documents, { maxLength: 3 }), queries, (all, later, query) => {
      const store = new DocumentStore();
      replaceAll(store, all);
      const snapshot = new Snapshot(store);
      for (const next of later) replaceAll(store, next, snapshot);
      expect(idsFound(snapshot, query)).toEqual(naive(all, query));
      expect(idsFound(store, query)).toEqual(naive(later.at(-1) ?? all, query));
    }),
    { numRuns: 1000 },
  );
});
