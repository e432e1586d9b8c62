import { describe, expect, test } from 'vitest';
import { type SinkHarness, startSink } from '../../support/sink-harness.ts';
import { badEntry, goodEntry } from '../../support/test-entry.ts';

const LINES = { module: new URL('fixtures/lines.ts', import.meta.url).pathname };

const keys = async (sink: SinkHarness, table: string): Promise<string[]> =>
  (await sink.rows(table)).map(({ key }) => key);

const startWithAttribute = async (): Promise<SinkHarness> => {
  const sink = await startSink({ pipeline: { destinationAttribute: 'table' }, deadLetters: 'topic' });
  await sink.createTable('other', ['f']);
  return sink;
};

describe('a record’s table by an attribute of its message', () => {
  test.each([
    ['a table id of the pipeline’s instance', { table: 'other' }, 'other'],
    ['a whole address', { table: 'p.i.other' }, 'other'],
    ['the path of a table', { table: 'projects/p/instances/i/tables/other' }, 'other'],
    ['nothing: the pipeline’s own table', {}, 't'],
  ])('names %s', async (_, attributes, table) => {
    await using sink = await startWithAttribute();
    expect((await sink.push({ data: goodEntry('row'), attributes })).status).toBe(204);
    expect(await keys(sink, table)).toEqual(['row']);
    expect(await keys(sink, table === 't' ? 'other' : 't')).toEqual([]);
  });

  test.each(['', ' ', 'a/b', 'p.i', 'p..t', ' other', 'projects/p/instances/i', 'orders.eu.0131'])(
    'that names %j is the configuration’s fault, not the record’s: redelivered, never dead-lettered, nothing sent',
    async (table) => {
      await using sink = await startWithAttribute();
      const { status, text } = await sink.push({ data: goodEntry('row'), attributes: { table } });
      expect(status).toBe(500);
      expect(text).toContain('the attribute table must name project.instance.table');
      expect(text).toContain(JSON.stringify(table));
      expect(sink.count('messagesRedelivered', 'destination')).toBe(1);
      expect(sink.requests).toEqual([]);
      expect(await sink.letters()).toEqual([]);
    },
  );

  test('a message without one is redelivered where the pipeline names no table either', async () => {
    await using sink = await startSink({
      pipeline: { table: undefined, destinationAttribute: 'table' },
      deadLetters: 'topic',
    });
    const { status, text } = await sink.push({ data: goodEntry('row') });
    expect(status).toBe(500);
    expect(text).toContain('it has no attribute table and the pipeline names no table');
    expect(await sink.letters()).toEqual([]);
  });

  test('a table that does not exist is redelivered and blocks no other table', async () => {
    await using sink = await startWithAttribute();
    const [lost, kept] = await Promise.all([
      sink.push({ data: goodEntry('row'), attributes: { table: 'nowhere' } }),
      sink.push({ data: goodEntry('row'), attributes: { table: 'other' } }),
    ]);
    expect([lost.status, kept.status]).toEqual([503, 204]);
    expect(lost.text).toContain('p.i.nowhere');
    expect(await sink.letters()).toEqual([]);
  });

  test('a dead letter says which table refused it', async () => {
    await using sink = await startWithAttribute();
    await sink.push({ data: badEntry('row'), attributes: { table: 'other' } });
    expect((await sink.letters())[0]?.attributes).toMatchObject({ table: 'other', 'dlq-destination': 'p.i.other' });
  });
});

describe('a record’s table by the serializer', () => {
  test('records of one message go to their own tables', async () => {
    await using sink = await startSink({ pipeline: { serializer: LINES, framing: 'ndjson' } });
    await sink.createTable('other', ['f']);
    const lines = ['{"key":"a"}', '{"key":"b","table":"other"}', '{"key":"c","table":"p.i.other"}'];
    expect((await sink.push({ data: lines.join('\n') })).status).toBe(204);
    expect(await keys(sink, 't')).toEqual(['a']);
    expect(await keys(sink, 'other')).toEqual(['b', 'c']);
  });

  test('comes before an attribute', async () => {
    await using sink = await startSink({ pipeline: { serializer: LINES, destinationAttribute: 'table' } });
    await sink.createTable('other', ['f']);
    await sink.push({ data: '{"key":"a","table":"other"}', attributes: { table: 't' } });
    expect(await keys(sink, 'other')).toEqual(['a']);
  });

  test('one record that names nonsense holds its message back; the others of it are applied', async () => {
    await using sink = await startSink({ pipeline: { serializer: LINES, framing: 'ndjson' }, deadLetters: 'topic' });
    const lines = ['{"key":"a"}', '{"key":"b","table":"x/y"}', '{"key":"c"}', 'not a line'];
    const { status, text } = await sink.push({ data: lines.join('\n') });
    expect(status).toBe(500);
    expect(text).toContain('the serializer must name project.instance.table');
    expect(await keys(sink, 't')).toEqual(['a', 'c']);
    expect(await sink.letters()).toEqual([]);
  });
});
