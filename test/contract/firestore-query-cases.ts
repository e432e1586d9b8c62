import { AggregateField, FieldPath, Filter } from '@google-cloud/firestore';
import { code } from '../support/firestore-raw-client.ts';
import { idsOf, type ContractCase, type Session } from './firestore-case.ts';

/** A value of every type and rank, by ids that say their order. */
const RANKED: Readonly<Record<string, unknown>> = {
  a: null,
  b: false,
  c: true,
  d: Number.NaN,
  e: -1.5,
  f: 0,
  g: 1,
  h: 1.5,
  i: new Date(0),
  j: '',
  k: 'a',
  l: '\u{ffff}',
  m: '\u{10000}',
  n: Buffer.from([1]),
  o: Buffer.from([1, 0]),
  p: [],
  q: [1, 2],
  r: [2],
  s: {},
  t: { a: 1 },
  u: { a: 1, b: 0 },
  v: { b: 0 },
};

async function fill({ client, collection }: Session, documents: Readonly<Record<string, object>>): Promise<void> {
  const batch = client.batch();
  for (const [id, document] of Object.entries(documents)) batch.set(collection.doc(id), document);
  await batch.commit();
}

const ranked = (session: Session): Promise<void> =>
  fill(session, Object.fromEntries(Object.entries(RANKED).map(([id, v]) => [id, { v }])));

/** Numbers, lists and texts, with a field that some lack. */
const items = (session: Session): Promise<void> =>
  fill(session, {
    one: { n: 1, s: 'x', tags: ['a', 'b'] },
    two: { n: 2, s: 'y', tags: ['b'], extra: null },
    three: { n: 3, s: 'x', tags: [], extra: 1 },
    four: { n: 4, s: 'y', extra: Number.NaN },
    five: { s: 'x', n: 'text', map: { 'a.b': 5 } },
  });

/** What each of the queries finds. */
const finds =
  (
    prepare: (session: Session) => Promise<void>,
    ...queries: readonly ((from: Session['collection']) => Promise<unknown>)[]
  ) =>
  async (session: Session): Promise<unknown> => {
    await prepare(session);
    const found: unknown[] = [];
    for (const query of queries) found.push(await query(session.collection));
    return found;
  };

export const QUERY_CASES: readonly ContractCase[] = [
  {
    name: 'values are ordered by type and then within it',
    run: finds(
      ranked,
      async (all) => (await idsOf(all.orderBy('v'))).join(''),
      async (all) => (await idsOf(all.orderBy('v', 'desc'))).join(''),
    ),
    service: [Object.keys(RANKED).join(''), Object.keys(RANKED).toReversed().join('')],
  },
  {
    name: 'a range stays within the type of its bound, and NaN is in none',
    run: finds(
      ranked,
      (all) => idsOf(all.where('v', '<', 1)),
      (all) => idsOf(all.where('v', '>=', 1)),
      (all) => idsOf(all.where('v', '>', 'a')),
      (all) => idsOf(all.where('v', '<=', [2])),
    ),
    service: [
      ['e', 'f'],
      ['g', 'h'],
      ['l', 'm'],
      ['p', 'q', 'r'],
    ],
  },
  {
    name: 'equality is by value, whichever type of number; null and NaN are asked for by name',
    run: finds(
      items,
      (all) => idsOf(all.where('n', '==', 2)),
      (all) => idsOf(all.where('extra', '==', null)),
      (all) => idsOf(all.where('extra', '==', Number.NaN)),
      (all) => idsOf(all.where('extra', '!=', Number.NaN)),
      (all) => idsOf(all.where('extra', '!=', null)),
      (all) => idsOf(all.where(new FieldPath('map', 'a.b'), '==', 5)),
    ),
    service: [['two'], ['two'], ['four'], ['three'], ['four', 'three'], ['five']],
  },
  {
    name: 'in, not-in and != find what they say, and never a document without the field',
    run: finds(
      items,
      (all) => idsOf(all.where('n', 'in', [1, 4, 99])),
      (all) => idsOf(all.where('n', 'not-in', [1, 'text'])),
      (all) => idsOf(all.where('n', '!=', 3)),
      (all) => idsOf(all.where('extra', 'not-in', [7])),
      (all) => idsOf(all.where('extra', 'in', [Number.NaN, 1])),
    ),
    service: [['four', 'one'], ['two', 'three', 'four'], ['one', 'two', 'four', 'five'], ['four', 'three'], ['three']],
  },
  {
    name: 'array-contains and array-contains-any look into lists',
    run: finds(
      items,
      (all) => idsOf(all.where('tags', 'array-contains', 'b')),
      (all) => idsOf(all.where('tags', 'array-contains-any', ['a', 'z'])),
    ),
    service: [['one', 'two'], ['one']],
  },
  {
    name: 'and, or and their combinations',
    run: finds(
      items,
      (all) => idsOf(all.where('s', '==', 'x').where('n', '>', 1)),
      (all) => idsOf(all.where(Filter.or(Filter.where('n', '==', 1), Filter.where('s', '==', 'y')))),
      (all) =>
        idsOf(
          all.where(
            Filter.and(Filter.where('s', '==', 'y'), Filter.or(Filter.where('n', '==', 2), Filter.where('n', '==', 3))),
          ),
        ),
    ),
    service: [['three'], ['four', 'one', 'two'], ['two']],
  },
  {
    name: 'an order by a field leaves out documents without it, and the name breaks ties its way',
    run: finds(
      items,
      (all) => idsOf(all.orderBy('extra')),
      (all) => idsOf(all.orderBy('s')),
      (all) => idsOf(all.orderBy('s', 'desc')),
      (all) => idsOf(all.orderBy('s').orderBy('n', 'desc')),
    ),
    service: [
      ['two', 'four', 'three'],
      ['five', 'one', 'three', 'four', 'two'],
      ['two', 'four', 'three', 'one', 'five'],
      ['five', 'three', 'one', 'four', 'two'],
    ],
  },
  {
    name: 'limit, limitToLast, offset and cursors cut the answer',
    run: finds(
      items,
      (all) => idsOf(all.orderBy('n').limit(2)),
      (all) => idsOf(all.orderBy('n').limitToLast(2)),
      (all) => idsOf(all.orderBy('n').offset(3)),
      (all) => idsOf(all.offset(1).limit(2)),
      (all) => idsOf(all.orderBy('n').startAt(2).endBefore('text')),
      (all) => idsOf(all.orderBy('n').startAfter(2).endAt(4)),
      async (all) => idsOf(all.orderBy('s').startAfter(await all.doc('one').get())),
      (all) => idsOf(all.orderBy(FieldPath.documentId()).startAt('one').limit(2)),
      (all) => idsOf(all.orderBy('n', 'desc').startAt(3)),
    ),
    service: [
      ['one', 'two'],
      ['four', 'five'],
      ['four', 'five'],
      ['four', 'one'],
      ['two', 'three', 'four'],
      ['three', 'four'],
      ['three', 'four', 'two'],
      ['one', 'three'],
      ['three', 'two', 'one'],
    ],
  },
  {
    name: 'ids are compared with ==, in and ranges',
    run: finds(
      items,
      (all) => idsOf(all.where(FieldPath.documentId(), '==', 'one')),
      (all) => idsOf(all.where(FieldPath.documentId(), 'in', ['two', 'one', 'none'])),
      (all) => idsOf(all.where(FieldPath.documentId(), '>=', 'one').where(FieldPath.documentId(), '<', 'two')),
    ),
    service: [['one'], ['one', 'two'], ['one', 'three']],
  },
  {
    name: 'ids in descending order, for which the service needs an index',
    run: async (session) => {
      await items(session);
      const { collection } = session;
      return idsOf(collection.orderBy(FieldPath.documentId(), 'desc').limit(2)).catch(() => 'refused');
    },
    service: ['two', 'three'],
  },
  {
    name: 'select answers only the fields it names',
    async run(session) {
      await items(session);
      const some = await session.collection.where('n', '==', 1).select('s', 'missing').get();
      const none = await session.collection.where('n', '==', 1).select().get();
      return [...some.docs, ...none.docs].map((document) => document.data());
    },
    service: [{ s: 'x' }, {}],
  },
  {
    name: 'a collection group finds documents at every depth',
    async run({ client, collection }) {
      const group = `group-${collection.id}`;
      await collection.doc('p').collection(group).doc('1').set({ n: 1 });
      await collection.doc('p').collection('deep').doc('q').collection(group).doc('2').set({ n: 2 });
      await client.collection(group).doc('3').set({ n: 3 });
      return [await idsOf(client.collectionGroup(group).orderBy('n')), await idsOf(collection)];
    },
    service: [['1', '2', '3'], []],
  },
  {
    name: 'count, sum and average of what a query finds',
    async run(session) {
      await items(session);
      const { collection } = session;
      const aggregates = {
        count: AggregateField.count(),
        sum: AggregateField.sum('n'),
        average: AggregateField.average('n'),
      };
      const [all, some, none] = await Promise.all(
        [collection, collection.where('n', '<', 3), collection.where('n', '==', 77)].map((query) =>
          query.aggregate(aggregates).get(),
        ),
      );
      const limited = await collection.limit(2).count().get();
      return [all?.data(), some?.data(), none?.data(), limited.data()];
    },
    service: [
      { count: 5, sum: 10, average: 2.5 },
      { count: 2, sum: 3, average: 1.5 },
      { count: 0, sum: 0, average: null },
      { count: 2 },
    ],
  },
  {
    name: 'documents are listed with those that only have collections below them; collections by their ids',
    async run({ collection }) {
      await collection.doc('real').set({ n: 1 });
      await collection.doc('ghost').collection('inner').doc('x').set({ n: 1 });
      await collection.doc('ghost').collection('another').doc('x').set({ n: 1 });
      const documents = await collection.listDocuments();
      const collections = await collection.doc('ghost').listCollections();
      return [documents.map(({ id }) => id), collections.map(({ id }) => id), await idsOf(collection)];
    },
    service: [['ghost', 'real'], ['another', 'inner'], ['real']],
  },
  {
    name: 'a recursive delete finds everything below a document',
    async run({ client, collection }) {
      await collection.doc('a').set({ n: 1 });
      await collection.doc('a').collection('b').doc('c').set({ n: 1 });
      await collection.doc('b').set({ n: 1 });
      await client.recursiveDelete(collection.doc('a'));
      return [await idsOf(collection), await idsOf(collection.doc('a').collection('b'))];
    },
    service: [['b'], []],
  },
  {
    name: 'an empty list of alternatives is INVALID_ARGUMENT',
    run: ({ collection }) => code(collection.where('n', 'in', []).get()),
    service: 'INVALID_ARGUMENT',
  },
];
