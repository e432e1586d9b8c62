import { FieldValue, Timestamp } from '@google-cloud/firestore';
import { code, commit, integer, remove, set } from '../support/firestore-raw-client.ts';
import { dataOf, nameOf, type ContractCase } from './firestore-case.ts';

/** The statuses of what a client tries, one after the other. */
const codes = async (...calls: readonly (() => Promise<unknown>)[]): Promise<string[]> => {
  const all: string[] = [];
  for (const call of calls) all.push(await code(call()));
  return all;
};

const STALE = { lastUpdateTime: Timestamp.fromMillis(1000) };

export const WRITE_CASES: readonly ContractCase[] = [
  {
    name: 'create makes a document once',
    async run({ collection }) {
      const create = () => collection.doc('a').create({ n: 1 });
      return codes(create, create);
    },
    service: ['OK', 'ALREADY_EXISTS'],
  },
  {
    name: 'update and a delete that must find need a document',
    async run({ collection }) {
      return codes(
        () => collection.doc('a').update({ n: 1 }),
        () => collection.doc('a').delete({ exists: true }),
        () => collection.doc('a').delete(),
      );
    },
    service: ['NOT_FOUND', 'NOT_FOUND', 'OK'],
  },
  {
    name: 'a write that names the update time happens on that version only',
    async run({ collection }) {
      const { writeTime } = await collection.doc('a').set({ n: 1 });
      return codes(
        () => collection.doc('a').update({ n: 2 }, { lastUpdateTime: writeTime }),
        () => collection.doc('a').update({ n: 3 }, { lastUpdateTime: writeTime }),
        () => collection.doc('a').delete({ lastUpdateTime: writeTime }),
        () => collection.doc('missing').update({ n: 1 }, STALE),
        () => collection.doc('missing').delete(STALE),
      );
    },
    service: ['OK', 'FAILED_PRECONDITION', 'FAILED_PRECONDITION', 'FAILED_PRECONDITION', 'FAILED_PRECONDITION'],
  },
  {
    name: 'a commit of which one write is refused changes nothing',
    async run(session) {
      const { client, collection } = session;
      await collection.doc('b').set({ n: 1 });
      const batch = client.batch();
      batch.set(collection.doc('a'), { n: 1 }).delete(collection.doc('b')).create(collection.doc('c'), { n: 1 });
      batch.update(collection.doc('missing'), { n: 1 });
      const status = await code(batch.commit());
      return [status, await dataOf(session, 'a'), await dataOf(session, 'b'), await dataOf(session, 'c')];
    },
    service: ['NOT_FOUND', undefined, { n: 1 }, undefined],
  },
  {
    name: 'writes of one document in one commit happen in their order',
    async run(session) {
      const name = nameOf(session, 'a');
      const { writeResults } = await commit(session.raw, [
        set(name, { n: integer(1n) }),
        remove(name),
        set(name, { m: integer(2n) }, { currentDocument: { conditionType: { $case: 'exists', value: false } } }),
      ]);
      return [writeResults.length, await dataOf(session, 'a')];
    },
    service: [3, { m: 2 }],
  },
  {
    name: 'a write that changes nothing keeps the update time, and one that changes a type does not',
    async run({ collection }) {
      const times = [
        await collection.doc('a').set({ n: 1, m: { deep: [1] } }),
        await collection.doc('a').set({ n: 1, m: { deep: [1] } }),
        await collection.doc('a').update({ 'm.deep': [1] }),
        await collection.doc('a').set({ n: 1.5, m: { deep: [1] } }),
      ].map(({ writeTime }) => writeTime.valueOf());
      return [times[0] === times[1], times[0] === times[2], times[2]! < times[3]!];
    },
    service: [true, true, true],
  },
  {
    name: 'a merge changes the fields that it names, and update those at its paths',
    async run(session) {
      const { collection } = session;
      await collection.doc('a').set({ keep: 1, map: { keep: 1, change: 1, gone: 1 }, gone: 1 });
      await collection.doc('a').set({ map: { change: 2 } }, { merge: true });
      await collection.doc('a').update({ 'map.gone': FieldValue.delete(), gone: FieldValue.delete(), 'new.`x': 1 });
      await collection.doc('b').set({}, { merge: true });
      return [await dataOf(session, 'a'), await dataOf(session, 'b')];
    },
    service: [{ keep: 1, map: { keep: 1, change: 2 }, new: { '`x': 1 } }, {}],
  },
  {
    name: 'transforms count, keep the larger and smaller, and add and take elements once',
    async run(session) {
      const { collection } = session;
      await collection.doc('a').set({ n: 1, text: 'x', list: [1, 2, 2], other: 5 });
      await collection.doc('a').update({
        n: FieldValue.increment(2),
        text: FieldValue.increment(3),
        fresh: FieldValue.increment(1.5),
        other: FieldValue.arrayUnion('only', 'only'),
        list: FieldValue.arrayRemove(2),
      });
      await collection.doc('a').update({ list: FieldValue.arrayUnion(1, 3, 3), n: FieldValue.increment(0.5) });
      return dataOf(session, 'a');
    },
    service: { n: 3.5, text: 3, fresh: 1.5, list: [1, 3], other: ['only'] },
  },
  {
    name: 'maximum and minimum keep the stored number where it is as good',
    async run(session) {
      const name = nameOf(session, 'a');
      await commit(session.raw, [set(name, { low: integer(1n), high: integer(9n) })]);
      const double = (value: number) => ({ valueType: { $case: 'doubleValue', value } }) as const;
      const { writeResults } = await commit(session.raw, [
        set(
          name,
          {},
          {
            updateMask: { fieldPaths: [] },
            updateTransforms: [
              { fieldPath: 'low', transformType: { $case: 'maximum', value: double(1) } },
              { fieldPath: 'low', transformType: { $case: 'maximum', value: integer(4n) } },
              { fieldPath: 'high', transformType: { $case: 'minimum', value: double(2.5) } },
              { fieldPath: 'fresh', transformType: { $case: 'minimum', value: integer(7n) } },
            ],
          },
        ),
      ]);
      return writeResults[0]?.transformResults.map(({ valueType }) => valueType);
    },
    service: [
      { $case: 'integerValue', value: 1n },
      { $case: 'integerValue', value: 4n },
      { $case: 'doubleValue', value: 2.5 },
      { $case: 'integerValue', value: 7n },
    ],
  },
  {
    name: 'an integer stops at the end of int64',
    async run(session) {
      const name = nameOf(session, 'a');
      await commit(session.raw, [set(name, { n: integer(2n ** 63n - 2n) })]);
      const increment = { fieldPath: 'n', transformType: { $case: 'increment', value: integer(5n) } } as const;
      const write = set(name, {}, { updateMask: { fieldPaths: [] }, updateTransforms: [increment] });
      const { writeResults } = await commit(session.raw, [write]);
      return writeResults[0]?.transformResults[0]?.valueType?.value;
    },
    service: 2n ** 63n - 1n,
  },
  {
    name: 'the server time is one for all of a commit, in whole milliseconds',
    async run({ client, collection }) {
      const documents = [collection.doc('a'), collection.doc('b')];
      const batch = client.batch();
      for (const document of documents) batch.set(document, { at: FieldValue.serverTimestamp() });
      const [written] = await batch.commit();
      const found = await client.getAll(...documents);
      const [first, second] = found.map((document) => document.get('at') as Timestamp);
      const behindMillis = written!.writeTime.toMillis() - first!.toMillis();
      return [first!.isEqual(second!), first!.nanoseconds % 1_000_000, Math.abs(behindMillis) < 5000];
    },
    service: [true, 0, true],
  },
  {
    name: 'a timestamp is kept to the microsecond',
    async run({ collection }) {
      await collection.doc('a').set({ at: new Timestamp(-5, 123_456_789) });
      const { seconds, nanoseconds } = (await collection.doc('a').get()).get('at') as Timestamp;
      return [seconds, nanoseconds];
    },
    service: [-5, 123_456_000],
  },
  {
    name: 'what no document may hold is INVALID_ARGUMENT',
    async run({ collection }) {
      return codes(
        () => collection.doc('a').set({ bytes: Buffer.alloc(1_048_487) }),
        () => collection.doc('a').set({ bytes: Buffer.alloc(1_048_488) }),
        () => collection.doc('a').set({ one: Buffer.alloc(600_000), two: Buffer.alloc(600_000) }),
        () => collection.doc('a').set({ list: [[1]] }),
        () => collection.doc('a').set({ list: [{ list: [1] }] }),
        () => collection.doc('a').set({ __reserved__: 1 }),
        () => collection.doc('a').set({ map: { __reserved__: 1 } }),
        () => collection.doc('i'.repeat(1500)).set({}),
        () => collection.doc('i'.repeat(1501)).set({}),
        () => collection.doc('__reserved__').set({}),
      );
    },
    service: [
      'OK',
      'INVALID_ARGUMENT',
      'INVALID_ARGUMENT',
      'INVALID_ARGUMENT',
      'OK',
      'INVALID_ARGUMENT',
      'INVALID_ARGUMENT',
      'OK',
      'INVALID_ARGUMENT',
      'INVALID_ARGUMENT',
    ],
  },
  {
    name: 'a commit of 8 MiB is taken',
    run: (session) => code(commit(session.raw, documentsOfOneMebibyte(session, 8))),
    service: 'OK',
  },
  {
    name: 'a commit over 10 MiB is INVALID_ARGUMENT',
    run: (session) => code(commit(session.raw, documentsOfOneMebibyte(session, 11))),
    service: 'INVALID_ARGUMENT',
  },
  {
    name: 'BatchWrite answers each write for itself',
    async run(session) {
      const { client, collection } = session;
      await collection.doc('there').set({ n: 1 });
      const writer = client.bulkWriter();
      const answers = Promise.all([
        code(writer.create(collection.doc('fresh'), { n: 2 })),
        code(writer.create(collection.doc('there'), { n: 2 })),
        code(writer.update(collection.doc('missing'), { n: 2 })),
      ]);
      await writer.close();
      return [...(await answers), await dataOf(session, 'fresh'), await dataOf(session, 'there')];
    },
    service: ['OK', 'ALREADY_EXISTS', 'NOT_FOUND', { n: 2 }, { n: 1 }],
  },
];

function documentsOfOneMebibyte(session: Parameters<ContractCase['run']>[0], documents: number) {
  const bytes = { valueType: { $case: 'bytesValue', value: Buffer.alloc(1_040_000) } } as const;
  return Array.from({ length: documents }, (_, at) => set(nameOf(session, `large-${at}`), { bytes }));
}
