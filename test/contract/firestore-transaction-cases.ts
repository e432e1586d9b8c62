import {
  batchGet,
  begin,
  code,
  commit,
  inTransaction,
  integer,
  queryEqual,
  remove,
  rollback,
  set,
} from '../support/firestore-raw-client.ts';
import { dataOf, nameOf, type ContractCase, type Session } from './firestore-case.ts';

const put = (session: Session, id: string, n: bigint) => set(nameOf(session, id), { n: integer(n) });

/** A transaction that has read this document. */
async function reader(session: Session, id: string): Promise<Buffer> {
  const transaction = await begin(session.raw);
  await batchGet(session.raw, [nameOf(session, id)], inTransaction(transaction));
  return transaction;
}

export const TRANSACTION_CASES: readonly ContractCase[] = [
  {
    name: 'no increment by read and write is lost',
    async run(session) {
      const { client, collection } = session;
      const increment = () =>
        client.runTransaction(async (transaction) => {
          const found = await transaction.get(collection.doc('a'));
          const n = found.exists ? Number(found.get('n')) : 0;
          transaction.set(collection.doc('a'), { n: n + 1 });
        });
      const outcomes = await Promise.allSettled(Array.from({ length: 5 }, increment));
      const succeeded = outcomes.filter(({ status }) => status === 'fulfilled').length;
      const total = (await collection.doc('a').get()).get('n') as number;
      return succeeded > 0 && total === succeeded;
    },
    service: true,
  },
  {
    name: 'a write waits for the transaction that has read its document',
    async run(session) {
      const transaction = await reader(session, 'a');
      const order: string[] = [];
      const plain = commit(session.raw, [put(session, 'a', 1n)]).then(() => order.push('plain'));
      // The plain write is on its way, and must be seen to wait.
      await new Promise((resolve) => setTimeout(resolve, 200));
      order.push('transaction');
      await commit(session.raw, [put(session, 'a', 2n)], { transaction });
      await plain;
      return [order, await dataOf(session, 'a')];
    },
    service: [['transaction', 'plain'], { n: 1 }],
  },
  {
    name: 'a write that waits too long is ABORTED: for a document, a missing one, and what a query would find',
    async run(session) {
      const { raw, collection } = session;
      await commit(raw, [put(session, 'there', 1n), put(session, 'found', 7n)]);
      const transaction = await begin(raw);
      const names = [nameOf(session, 'there'), nameOf(session, 'missing')];
      await batchGet(raw, names, inTransaction(transaction));
      await queryEqual(raw, collection.id, 'n', integer(7n), inTransaction(transaction));
      const answers = await Promise.all([
        code(commit(raw, [put(session, 'there', 2n)])),
        code(commit(raw, [put(session, 'missing', 2n)])),
        code(commit(raw, [put(session, 'phantom', 7n)])),
        code(commit(raw, [remove(nameOf(session, 'found'))])),
      ]);
      await rollback(raw, transaction);
      return [...answers, await code(commit(raw, [put(session, 'there', 2n)]))];
    },
    service: ['ABORTED', 'ABORTED', 'ABORTED', 'ABORTED', 'OK'],
  },
  {
    name: 'a query in a transaction does not hold up documents that it would not find',
    async run(session) {
      const { raw, collection } = session;
      const transaction = await begin(raw);
      await queryEqual(raw, collection.id, 'n', integer(7n), inTransaction(transaction));
      const answer = await code(commit(raw, [put(session, 'other', 8n)]));
      await rollback(raw, transaction);
      return answer;
    },
    service: 'OK',
  },
  {
    name: 'of two transactions that read and write one document, one is ABORTED',
    async run(session) {
      const { raw } = session;
      const [first, second] = [await reader(session, 'a'), await reader(session, 'a')];
      const answers = await Promise.all([
        code(commit(raw, [put(session, 'a', 1n)], { transaction: first })),
        code(commit(raw, [put(session, 'a', 2n)], { transaction: second })),
      ]);
      return answers.toSorted();
    },
    service: ['ABORTED', 'OK'],
  },
  {
    name: 'a transaction that ended, or never was, is INVALID_ARGUMENT; rolling back twice is fine',
    async run(session) {
      const { raw } = session;
      const transaction = await reader(session, 'a');
      await rollback(raw, transaction);
      return [
        await code(rollback(raw, transaction)),
        await code(commit(raw, [put(session, 'a', 1n)], { transaction })),
        await code(batchGet(raw, [nameOf(session, 'a')], inTransaction(transaction))),
        await code(commit(raw, [put(session, 'a', 1n)], { transaction: Buffer.from('never') })),
      ];
    },
    service: ['OK', 'INVALID_ARGUMENT', 'INVALID_ARGUMENT', 'INVALID_ARGUMENT'],
  },
  {
    name: 'a read-only transaction sees one moment and holds up nobody',
    async run(session) {
      const { raw, client, collection } = session;
      await commit(raw, [put(session, 'a', 1n), put(session, 'b', 1n)]);
      const seen = await client.runTransaction(
        async (transaction) => {
          const before = await transaction.get(collection.doc('a'));
          const writes = [put(session, 'a', 2n), remove(nameOf(session, 'b')), put(session, 'c', 1n)];
          const answer = await code(commit(raw, writes));
          const after = await transaction.get(collection.doc('a'));
          const all = await transaction.get(collection);
          return [answer, before.data(), after.data(), all.docs.map(({ id }) => id)];
        },
        { readOnly: true },
      );
      return [...seen, await dataOf(session, 'a')];
    },
    service: ['OK', { n: 1 }, { n: 1 }, ['a', 'b'], { n: 2 }],
  },
  {
    name: 'a read-only transaction writes nothing',
    async run(session) {
      const transaction = await begin(session.raw, 'readOnly');
      return code(commit(session.raw, [put(session, 'a', 1n)], { transaction }));
    },
    service: 'INVALID_ARGUMENT',
  },
  {
    name: 'a transaction that begins with its first read is named before the documents',
    async run(session) {
      const newTransaction = {
        $case: 'newTransaction',
        value: { mode: { $case: 'readWrite', value: { retryTransaction: Buffer.alloc(0), concurrencyMode: 0 } } },
      } as const;
      const messages = await batchGet(session.raw, [nameOf(session, 'missing')], newTransaction);
      const [transaction] = messages.map((message) => message.transaction).filter(({ length }) => length > 0);
      const answer = await code(commit(session.raw, [put(session, 'missing', 1n)], { transaction: transaction! }));
      return [messages.at(-1)?.result?.$case, answer];
    },
    service: ['missing', 'OK'],
  },
];
