import { expect, test } from 'vitest';
import { type CommitWork, decodeWork, encodeWork } from '../../../shared/staged/work-message.ts';

const WORK: CommitWork = {
  pipeline: 'orders',
  ranges: [{ from: '0-000000000007-', to: '0-000000000007.' }],
  segments: ['1-000000000007-0123456789abcdef'],
  rests: ['2-000000000003-0123456789abcdef'],
  segmentBytes: 1234,
};

test('work is read as it was written', () => {
  expect(decodeWork(encodeWork(WORK))).toEqual(WORK);
  expect(encodeWork(WORK).toString()).toBe(
    '{"version":2,"pipeline":"orders","ranges":[["0-000000000007-","0-000000000007."]],"segments":["1-000000000007-0123456789abcdef"],"rests":["2-000000000003-0123456789abcdef"],"segmentBytes":1234}',
  );
});

test('work of the deployment before names its segments, and is taken', () => {
  const former = { version: 1, pipeline: 'orders', checkpoint: 7, segments: ['a', 'b'] };
  expect(decodeWork(Buffer.from(JSON.stringify(former)))).toEqual({
    pipeline: 'orders',
    ranges: [],
    segments: ['a', 'b'],
    rests: [],
    segmentBytes: 0,
  });
});

const valid = JSON.parse(encodeWork(WORK).toString()) as object;

test.each([
  ['no JSON', 'orders'],
  ['no object', '7'],
  ['null', 'null'],
  ['another version', { ...valid, version: 3 }],
  ['no pipeline', { ...valid, pipeline: 7 }],
  ['a range that ends before it begins', { ...valid, ranges: [['b', 'a']] }],
  ['a range of three', { ...valid, ranges: [['a', 'b', 'c']] }],
  ['an id that leaves its collection', { ...valid, segments: ['../checkpoints/1'] }],
  ['an id that is no text', { ...valid, rests: [7] }],
  ['a weight below nothing', { ...valid, segmentBytes: -1 }],
])('%s is no work', (_case, data) => {
  expect(decodeWork(Buffer.from(typeof data === 'string' ? data : JSON.stringify(data)))).toBeUndefined();
});
