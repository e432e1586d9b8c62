import { describe, expect, test } from 'vitest';
import { ensureTables } from '../../../infra/local/cloud/table-resources.ts';
import { tableName } from '../../../shared/model/table-name.ts';
import { type SinkHarness, startSink } from '../../support/sink-harness.ts';
import { badLine, entryLine, goodEntry } from '../../support/test-entry.ts';

const keys = async (sink: SinkHarness): Promise<string[]> => (await sink.rows()).map(({ key }) => key);

const createFamily = ({ bigtable }: SinkHarness, family: string): Promise<void> =>
  ensureTables(bigtable.address, [{ name: tableName('p', 'i', 't'), families: { [family]: {} } }]);

describe('a missing table', () => {
  test('is never a record’s fault: redelivered with the disposition named, applied once the table is there', async () => {
    await using sink = await startSink({ families: null, deadLetters: 'topic' });
    const { status, text } = await sink.push({ data: goodEntry('row') });
    expect(status).toBe(503);
    expect(text).toContain('p.i.t');
    expect(text).toContain('createDisposition is create-never');
    expect(sink.requests).toHaveLength(1);
    expect(sink.count('messagesRedelivered', 'missing-table')).toBe(1);

    await sink.createTable('t', ['f']);
    expect((await sink.push({ data: goodEntry('row') })).status).toBe(204);
    expect(await keys(sink)).toEqual(['row']);
    expect(await sink.letters()).toEqual([]);
  });

  test('is not asked about entry by entry', async () => {
    await using sink = await startSink({ families: null, pipeline: { framing: 'ndjson' } });
    const lines = Array.from({ length: 32 }, (_, index) => entryLine(`row-${index}`, 'v'));
    expect((await sink.push({ data: lines.join('\n') })).status).toBe(503);
    expect(sink.requests).toHaveLength(1);
  });

  test('refuses no dead letter for a bad record beside it: the whole message is redelivered', async () => {
    await using sink = await startSink({
      families: null,
      pipeline: { framing: 'ndjson' },
      deadLetters: 'topic',
    });
    const data = `not an entry\n${entryLine('row', 'v')}`;
    expect((await sink.push({ data })).status).toBe(503);
    expect(await sink.letters()).toEqual([]);

    await sink.createTable('t', ['f']);
    expect((await sink.push({ data })).status).toBe(204);
    expect(await sink.letters()).toHaveLength(1);
    expect(await keys(sink)).toEqual(['row']);
  });

  test('a profile that does not exist is reported the same way and never dead-lettered', async () => {
    await using sink = await startSink({ pipeline: { appProfileId: 'nobody' }, deadLetters: 'topic' });
    expect((await sink.push({ data: goodEntry('row') })).status).toBe(503);
    expect(await sink.letters()).toEqual([]);
  });
});

describe('a missing family', () => {
  const lines = [
    entryLine('a', 'v'),
    entryLine('b', 'v', { family: 'later' }),
    entryLine('c', 'v'),
    entryLine('d', 'v'),
  ].join('\n');

  test('its batch-mates are applied; the message is redelivered, and applied once the family is there', async () => {
    await using sink = await startSink({ pipeline: { framing: 'ndjson' }, deadLetters: 'topic' });
    const { status, text } = await sink.push({ data: lines });
    expect(status).toBe(503);
    expect(text).toContain('a column family that the entry names does not exist');
    expect(text).toContain('createDisposition is create-never');
    expect(await keys(sink)).toEqual(['a', 'c', 'd']);
    expect(sink.count('messagesRedelivered', 'missing-family')).toBe(1);

    await createFamily(sink, 'later');
    expect((await sink.push({ data: lines })).status).toBe(204);
    expect(await sink.rows()).toEqual([
      { key: 'a', cells: ['f:q@1000=v'] },
      { key: 'b', cells: ['later:q@1000=v'] },
      { key: 'c', cells: ['f:q@1000=v'] },
      { key: 'd', cells: ['f:q@1000=v'] },
    ]);
    expect(await sink.letters()).toEqual([]);
  });

  test('messages that were pushed beside it are acknowledged', async () => {
    await using sink = await startSink();
    const pushes = Array.from({ length: 20 }, (_, index) =>
      sink.push({ data: entryLine(`row-${index}`, 'v', { family: index === 11 ? 'later' : 'f' }) }),
    );
    const statuses = (await Promise.all(pushes)).map(({ status }) => status);
    expect(statuses.filter((status) => status !== 204)).toEqual([503]);
    expect(statuses[11]).toBe(503);
    expect(await keys(sink)).toHaveLength(19);
  });

  test('in a hot row: its neighbours of the same row are applied', async () => {
    await using sink = await startSink({ pipeline: { framing: 'ndjson' } });
    const hot = [entryLine('hot', 'a'), entryLine('hot', 'b', { family: 'later' }), entryLine('hot', 'c')].join('\n');
    expect((await sink.push({ data: hot })).status).toBe(503);
    expect(await sink.rows()).toEqual([{ key: 'hot', cells: ['f:q@1000=c'] }]);
  });

  test('beside a bad record: the bad one is dead-lettered only when nothing else needs redelivery', async () => {
    await using sink = await startSink({ pipeline: { framing: 'ndjson' }, deadLetters: 'topic' });
    const data = [badLine('bad'), lines].join('\n');
    expect((await sink.push({ data })).status).toBe(503);
    expect(await keys(sink)).toEqual(['a', 'c', 'd']);
    expect(await sink.letters()).toEqual([]);

    await createFamily(sink, 'later');
    expect((await sink.push({ data })).status).toBe(204);
    expect(await keys(sink)).toEqual(['a', 'b', 'c', 'd']);
    expect((await sink.letters()).map(({ attributes }) => attributes['dlq-record-index'])).toEqual(['0']);
  });

  test('the log names the table and no row', async () => {
    await using sink = await startSink();
    await sink.push({ data: entryLine('secret-row', 'v', { family: 'later' }) });
    const errors = sink.logs.filter(({ severity }) => severity === 'ERROR');
    expect(errors.map(({ reason }) => reason)).toEqual(['missing-family']);
    expect(JSON.stringify(sink.logs)).toContain('p.i.t');
    expect(JSON.stringify(sink.logs)).not.toContain('secret-row');
  });
});
