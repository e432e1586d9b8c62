import { expect, test } from 'vitest';
import { MutateRowsRequest_Entry } from '../../shared/proto/google/bigtable/v2/bigtable.ts';
import { deadLetterOf } from '../../shared/letters/write.ts';
import { identityOf } from '../../shared/model/identity.ts';
import { entry, setCell } from '../support/bigtable-raw-client.ts';
import { counting, sumOfRow } from '../support/counting-record.ts';
import { failedRecord } from '../support/failed-record.ts';
import { recordOf } from '../support/pushed-message.ts';
import { badEntry, unsentEntry } from '../support/test-entry.ts';
import { PIPELINE, type StagedHarness, startStaged } from '../support/staged-harness.ts';
import { MAX_RECORDS } from '../../shared/model/record.ts';

const identityOfMessage = (messageId: string): string =>
  identityOf({
    pipeline: PIPELINE,
    subscription: `projects/p/subscriptions/records-${PIPELINE}`,
    messageId,
    recordIndex: 0,
  });

/** Lets the coordinator and the committer work until nothing is sent out any more. */
async function settle(staged: StagedHarness): Promise<void> {
  for (const work of await staged.tick()) expect(await staged.commit(work)).toMatchObject({ status: 204 });
}

test('a record is invisible when it is acknowledged, and in its row with its marker once a checkpoint owns it', async () => {
  await using staged = await startStaged();
  expect(await staged.push({ data: counting('k'), messageId: 'm-1' })).toEqual({ status: 204, text: '' });
  expect(await staged.rows()).toEqual([]);
  await settle(staged);
  expect(await sumOfRow(staged, 'k')).toBe(1n);
  const [row] = await staged.rows();
  expect(row!.cells).toContain(`markers:${identityOfMessage('m-1')}@0=1`);
  expect(staged.count('envelopesStaged')).toBe(1);
  expect(staged.count('requestsCompleted')).toBe(1);
});

test('the sum is exactly the number of messages, whatever is delivered twice, to whichever instance, in whichever checkpoint', async () => {
  await using staged = await startStaged();
  const other = await staged.another();
  const ids = Array.from({ length: 40 }, (_, index) => `m-${index}`);
  const statuses = await Promise.all(
    ids.map(async (messageId) => (await staged.push({ data: counting('k'), messageId })).status),
  );
  expect(new Set(statuses)).toEqual(new Set([204]));
  const again = await Promise.all(ids.slice(0, 20).map((messageId) => other({ data: counting('k'), messageId })));
  expect(new Set(again.map(({ status }) => status))).toEqual(new Set([204]));
  const works = await staged.tick();
  for (const work of works) expect((await staged.commit(work)).status).toBe(204);
  // The work comes twice as well.
  for (const work of works) expect((await staged.commit(work)).status).toBe(204);
  await staged.push({ data: counting('k'), messageId: 'm-0' });
  // The interval of a checkpoint.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  await settle(staged);
  expect(await sumOfRow(staged, 'k')).toBe(40n);
  expect(staged.count('requestsDeduplicated')).toBe(21);
});

test('a letter counts once however often it comes back, and beside its own message', async () => {
  await using staged = await startStaged();
  const failed = failedRecord({ record: recordOf({ messageId: 'm-1', data: counting('k') }) });
  const { data, attributes } = deadLetterOf(failed, { pipeline: PIPELINE, payload: 'record' }, 0);
  for (let times = 0; times < 3; times += 1) {
    expect(await staged.pushLetter({ data, attributes })).toEqual({ status: 204, text: '' });
  }
  await staged.push({ data: counting('k'), messageId: 'm-1' });
  await settle(staged);
  expect(await sumOfRow(staged, 'k')).toBe(1n);
  expect(staged.count('requestsDeduplicated')).toBe(3);
});

test('concurrent messages share segments', async () => {
  await using staged = await startStaged();
  // The first loads the client; the others find it open.
  await staged.push({ data: counting('k') });
  await Promise.all(Array.from({ length: 60 }, () => staged.push({ data: counting('k') })));
  expect(staged.count('envelopesStaged')).toBe(61);
  expect(staged.count('segmentsStaged')).toBeLessThan(20);
});

test('a record that cannot be applied exactly once follows the failure policy; the others of its message are kept', async () => {
  await using staged = await startStaged({ pipeline: { framing: 'ndjson', failurePolicy: 'log-and-drop' } });
  const json = (row: string, mutation: object): string =>
    JSON.stringify({ rowKey: Buffer.from(row).toString('base64'), mutations: [mutation] });
  const cell = { columnQualifier: '', timestampMicros: '1000', value: '' };
  const lines = [
    json('a', { setCell: { familyName: 'f', ...cell } }),
    json('b', { deleteFromRow: {} }),
    json('c', { setCell: { familyName: 'markers', ...cell } }),
  ];
  expect((await staged.push({ data: lines.join('\n') })).status).toBe(204);
  expect(staged.count('recordsDropped')).toBe(2);
  await settle(staged);
  expect((await staged.rows()).map(({ key }) => key)).toEqual(['a']);
});

test('a message of more records than one may hold is one bad record, and nothing of it is kept', async () => {
  await using staged = await startStaged({ pipeline: { framing: 'ndjson', failurePolicy: 'log-and-drop' } });
  const cell = { familyName: 'f', columnQualifier: '', timestampMicros: '1000', value: '' };
  const line = JSON.stringify({ rowKey: 'YQ==', mutations: [{ setCell: cell }] });
  expect((await staged.push({ data: '{}\n'.repeat(MAX_RECORDS + 1) })).status).toBe(204);
  expect((await staged.push({ data: line })).status).toBe(204);
  expect([staged.count('recordsDropped'), staged.count('envelopesStaged')]).toEqual([1, 1]);
});

test('an entry larger than a document is kept in parts, and written whole', async () => {
  await using staged = await startStaged();
  const value = 'v'.repeat(2_500_000);
  const data = Buffer.from(MutateRowsRequest_Entry.encode(entry('k', setCell('f', 'q', value))).finish());
  expect((await staged.push({ data })).status).toBe(204);
  await settle(staged);
  const [row] = await staged.rows();
  expect(row!.cells.find((cell) => cell.startsWith('f:q@'))).toHaveLength('f:q@1000='.length + value.length);
});

test('nothing is acknowledged that Firestore does not hold, and an answer that was lost does no harm', async () => {
  await using staged = await startStaged();
  await staged.push({ data: counting('k'), messageId: 'm-1' });
  staged.firestore.faults.add({
    method: 'Commit',
    times: 1,
    effect: { kind: 'lose-answer', status: { code: 'PERMISSION_DENIED', message: 'injected' } },
  });
  const refused = await staged.push({ data: counting('k'), messageId: 'm-2' });
  expect(refused.status).toBe(503);
  expect(refused.text).toMatch(/could not be staged: .*PERMISSION_DENIED/);
  expect(staged.count('messagesRedelivered', 'staging')).toBe(1);
  expect((await staged.push({ data: counting('k'), messageId: 'm-2' })).status).toBe(204);
  await settle(staged);
  expect(await sumOfRow(staged, 'k')).toBe(2n);
});

test('at the cap a message waits outside, and comes in when the backlog is gone', async () => {
  await using staged = await startStaged({ pipeline: { maxStagedEntries: 2 } });
  for (const messageId of ['m-1', 'm-2'])
    expect((await staged.push({ data: counting('k'), messageId })).status).toBe(204);
  const refused = await staged.push({ data: counting('k'), messageId: 'm-3' });
  expect(refused.status).toBe(429);
  expect(refused.text).toContain('the backlog holds 2 entries of at most 2 (maxStagedEntries)');
  expect(staged.count('backlogRefusals')).toBe(1);
  await settle(staged);
  // Another instance knows nothing of what this one staged, and by the count there is nothing.
  const other = await staged.another();
  expect((await other({ data: counting('k'), messageId: 'm-3' })).status).toBe(204);
});

test.each([
  ['garbage', Buffer.from('{}'), /not work for the pipeline orders/],
  [
    'work of another pipeline',
    { pipeline: 'clicks', ranges: [], segments: ['s'], rests: [], segmentBytes: 0 },
    /push each commit topic to the committer of its own/,
  ],
])('the committer does not acknowledge %s', async (_, work, text) => {
  await using staged = await startStaged();
  const answer = await staged.commit(work);
  expect(answer.status).toBe(400);
  expect(answer.text).toMatch(text);
});

test('a target on which an effect could count twice is refused before the first write', async () => {
  await using staged = await startStaged({ pipeline: { markerFamily: 'sums' } });
  const data = Buffer.from(MutateRowsRequest_Entry.encode(entry('k', setCell('f', 'q', 'v'))).finish());
  await staged.push({ data });
  const [work] = await staged.tick();
  expect((await staged.commit(work!)).status).toBe(204);
  expect(JSON.stringify(staged.logs)).toMatch(/set apart.*the marker family sums of p\.i\.t is of the type int64-sum/);
  expect(staged.count('envelopesSetApart')).toBe(1);
  expect(await staged.rows()).toEqual([]);
});

/** An entry of one cell. */
const setting = (row: string, family: string): Buffer =>
  Buffer.from(MutateRowsRequest_Entry.encode(entry(row, setCell(family, 'q', 'v'))).finish());

test('a record with a family that is missing is set apart, and the records staged with it are written', async () => {
  await using staged = await startStaged();
  const rows = Array.from({ length: 20 }, (_, index) => `row-${index}`);
  const answers = await Promise.all([
    ...rows.map((row, index) => staged.push({ data: setting(row, 'f'), messageId: `m-${index}` })),
    staged.push({ data: setting('lost', 'nope'), messageId: 'lost' }),
  ]);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
  await settle(staged);
  expect((await staged.rows()).map(({ key }) => key).sort()).toEqual([...rows].sort());
  expect(staged.count('envelopesSetApart')).toBe(1);
  expect(JSON.stringify(staged.logs)).toMatch(/set apart.*the column family nope of p\.i\.t does not exist/);
});

test('on receipt a record with a family that is missing is not acknowledged, and those beside it are written', async () => {
  await using staged = await startStaged({ pipeline: { commit: 'on-receipt' } });
  const [lost, ...others] = await Promise.all([
    staged.push({ data: setting('lost', 'nope'), messageId: 'lost' }),
    ...Array.from({ length: 20 }, (_, index) =>
      staged.push({ data: setting(`row-${index}`, 'f'), messageId: `m-${index}` }),
    ),
  ]);
  expect(new Set(others.map(({ status }) => status))).toEqual(new Set([204]));
  expect(lost).toMatchObject({ status: 503, text: expect.stringContaining('column family nope of p.i.t') as string });
  expect(await staged.rows()).toHaveLength(20);
});

test('commitStaged is refused where nothing is staged', async () => {
  await using staged = await startStaged({ pipeline: { commit: 'on-receipt' } });
  await expect(staged.commit(Buffer.from('{}'))).rejects.toThrow('pipelines.orders.commit: must be on-checkpoint');
});

test('on receipt a record is in its row when it is acknowledged, once, and Firestore is not asked', async () => {
  await using staged = await startStaged({ pipeline: { commit: 'on-receipt' } });
  const deliveries = ['m-1', 'm-2', 'm-1', 'm-1'];
  for (const messageId of deliveries) expect((await staged.push({ data: counting('k'), messageId })).status).toBe(204);
  expect(await sumOfRow(staged, 'k')).toBe(2n);
  expect(staged.count('requestsDeduplicated')).toBe(2);
  expect(staged.firestore.requestCounts()).toEqual({});
});

test('a record that no table takes is a bad record, and is neither stored nor sent', async () => {
  await using staged = await startStaged();
  const answer = await staged.push({ data: unsentEntry('k') });
  expect(answer.status).toBe(500);
  expect(answer.text).toContain('start timestamp must be whole milliseconds (a multiple of 1000), got 1001');
  expect((await staged.push({ data: counting('k'), messageId: 'm-1' })).status).toBe(204);
  await settle(staged);
  expect(staged.count('envelopesStaged')).toBe(1);
  expect(await sumOfRow(staged, 'k')).toBe(1n);
});

test('on receipt a row that Bigtable refuses follows onRejected, which names itself', async () => {
  await using staged = await startStaged({ pipeline: { commit: 'on-receipt' } });
  const data = badEntry('k');
  const answer = await staged.push({ data });
  expect(answer.status).toBe(500);
  expect(answer.text).toContain('onRejected is fail');
});
