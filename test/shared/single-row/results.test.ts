import { expect, test } from 'vitest';
import { MAX_MESSAGE_BYTES } from '../../../shared/letters/write.ts';
import type { OutgoingMessage } from '../../../shared/model/publishing.ts';
import type { ResultCell, RowResult } from '../../../shared/model/row-result.ts';
import { tableName } from '../../../shared/model/table-name.ts';
import { decodeRowResult, encodeRowResult } from '../../../shared/single-row/forms/documents.ts';
import { createResultPublisher } from '../../../shared/single-row/results.ts';
import { recordOf } from '../../support/pushed-message.ts';
import { testRuntime } from '../../support/runtime.ts';

const cell = (name: string, bytes: number): ResultCell => ({
  family: 'f',
  qualifier: Buffer.from(name),
  timestampMicros: 1000n,
  value: Buffer.alloc(bytes, 0xfe),
  labels: [],
});

const resultWith = (...cells: ResultCell[]): RowResult => ({
  correlationId: 'c',
  table: tableName('p', 'i', 't'),
  rowKey: Buffer.from('k'),
  outcome: { kind: 'readModifyWrite', cells },
});

async function published(result: RowResult, messageId = 'm'): Promise<OutgoingMessage> {
  const messages: OutgoingMessage[] = [];
  const topic = {
    publish(message: OutgoingMessage) {
      messages.push(message);
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
  const forms = {
    readRequest: () => {
      throw new TypeError('no request is read');
    },
    writeRequest: () => Buffer.alloc(0),
    writeResult: (written: RowResult) => encodeRowResult(written, 'json'),
  };
  const results = createResultPublisher(topic, { forms: () => Promise.resolve(forms), runtime: testRuntime() });
  await results.publish(recordOf({ messageId }), result, new AbortController().signal);
  return messages[0]!;
}

test('a result that fits is published with all of its cells', async () => {
  const result = resultWith(cell('a', 10), cell('b', 20));
  const { data, attributes } = await published(result);
  expect(decodeRowResult(data)).toEqual(result);
  expect(attributes).toEqual({
    'content-type': 'application/json',
    'correlation-id': 'c',
    'message-id': 'm',
    'record-index': '0',
  });
});

test('a result that no message has room for leaves out the cells that do not fit, and says how many', async () => {
  const small = cell('a', 10);
  const last = cell('z', 1_000_000);
  const { data } = await published(resultWith(small, cell('large', 9_000_000), cell('larger', 12_000_000), last));
  expect(data.length).toBeLessThanOrEqual(MAX_MESSAGE_BYTES);
  expect(decodeRowResult(data).outcome).toEqual({ kind: 'readModifyWrite', cells: [small, last], cellsOmitted: 2 });
});

test('cells of any number and size are kept as far as a message has room', async () => {
  const cells = Array.from({ length: 30 }, (_, index) => cell(`c${index}`, 500_000));
  const { data } = await published(resultWith(...cells));
  expect(data.length).toBeLessThanOrEqual(MAX_MESSAGE_BYTES);
  expect(decodeRowResult(data).outcome).toEqual({
    kind: 'readModifyWrite',
    cells: cells.slice(0, 14),
    cellsOmitted: 16,
  });
});

test('an id that fits in no attribute is cut, because the request is applied by then', async () => {
  const { attributes } = await published(resultWith(), 'i'.repeat(1_000_000));
  expect(attributes['message-id']).toHaveLength(1024);
});
