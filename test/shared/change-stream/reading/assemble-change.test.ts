import { describe, expect, test } from 'vitest';
import type { Change } from '../../../../shared/model/change.ts';
import { ChangeAssembler } from '../../../../shared/change-stream/reading/assemble-change.ts';
import type { StreamEvent } from '../../../../shared/change-stream/reading/ports.ts';
import {
  ChangeTooLargeError,
  StreamProtocolError,
  wireTime,
} from '../../../../shared/change-stream/reading/wire-rules.ts';
import { ReadChangeStreamResponse_DataChange_Type as Type } from '../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { Value } from '../../../../shared/proto/google/bigtable/v2/data.ts';
import {
  chunk,
  closeMessage,
  continuedMessage,
  dataMessage,
  heartbeatMessage,
  openEnd,
  piece,
  rangeOf,
  rawValue,
  setCell,
  type Step,
  wireToken,
} from '../../../support/change-messages.ts';

const feed = (...messages: readonly Buffer[]): StreamEvent[] => {
  const assembler = new ChangeAssembler(1 << 20);
  return messages.flatMap((message) => assembler.feed(message) ?? []);
};

function changeOf(...messages: readonly Buffer[]): Change {
  const [event, ...more] = feed(...messages);
  expect(more).toEqual([]);
  if (event?.kind !== 'change') throw new Error('no change came');
  return event.change;
}

const stepsOf = (...steps: readonly Step[]): Change => changeOf(dataMessage({ chunks: steps.map(chunk) }));
const bytes = (text: string): Buffer => Buffer.from(text);

describe('a change', () => {
  test('is told with every field of its header, times to the nanosecond', () => {
    expect(
      changeOf(
        dataMessage({
          rowKey: Buffer.of(0, 255),
          tiebreaker: 7,
          commitTimestamp: wireTime(1_700_000_000_123_456_789n),
          estimatedLowWatermark: wireTime(1_699_999_999_000_000_001n),
          token: 'after it',
        }),
      ),
    ).toEqual({
      rowKey: Buffer.of(0, 255),
      type: 'USER',
      sourceCluster: 'c1',
      commitTime: 1_700_000_000_123_456_789n,
      tieBreaker: 7,
      token: 'after it',
      lowWatermark: 1_699_999_999_000_000_001n,
      entries: [{ kind: 'set-cell', family: 'f', qualifier: bytes('q'), timestampMicros: 1000n, value: bytes('v') }],
      bytes: 11,
    });
  });

  test('of garbage collection has no source cluster', () => {
    const change = changeOf(dataMessage({ type: Type.GARBAGE_COLLECTION, sourceClusterId: '' }));
    expect(change).toMatchObject({ type: 'GARBAGE_COLLECTION', sourceCluster: '' });
  });

  test('tells deletes of cells with the bounds that they have', () => {
    const deleted = (startTimestampMicros: bigint, endTimestampMicros: bigint): Step => ({
      $case: 'deleteFromColumn',
      value: { familyName: 'f', columnQualifier: bytes('q'), timeRange: { startTimestampMicros, endTimestampMicros } },
    });
    const entry = { kind: 'delete-cells', family: 'f', qualifier: bytes('q') };
    const cut: Step = {
      $case: 'deleteFromColumn',
      value: { familyName: 'f', columnQualifier: bytes('q'), timeRange: undefined },
    };
    expect(stepsOf(deleted(0n, 0n), deleted(1n, 0n), deleted(0n, 2n), deleted(1n, 2n), cut).entries).toEqual([
      { ...entry, timestampRange: {} },
      { ...entry, timestampRange: { startMicros: 1n } },
      { ...entry, timestampRange: { endMicros: 2n } },
      { ...entry, timestampRange: { startMicros: 1n, endMicros: 2n } },
      { ...entry, timestampRange: {} },
    ]);
  });

  test('tells deletes of families and aggregates with the kind of each value', () => {
    const micros: Value = { type: undefined, kind: { $case: 'rawTimestampMicros', value: -(2n ** 63n) } };
    const sum: Value = { type: undefined, kind: { $case: 'intValue', value: 2n ** 63n - 1n } };
    const value = { familyName: 'a', columnQualifier: rawValue('q'), timestamp: micros, input: sum };
    expect(
      stepsOf(
        { $case: 'deleteFromFamily', value: { familyName: 'g' } },
        { $case: 'addToCell', value },
        { $case: 'mergeToCell', value: { ...value, input: rawValue('state') } },
      ).entries,
    ).toEqual([
      { kind: 'delete-family', family: 'g' },
      {
        kind: 'add-to-cell',
        family: 'a',
        qualifier: { kind: 'raw-value', value: bytes('q') },
        timestamp: { kind: 'raw-timestamp', micros: -(2n ** 63n) },
        input: { kind: 'int64', value: 2n ** 63n - 1n },
      },
      {
        kind: 'merge-to-cell',
        family: 'a',
        qualifier: { kind: 'raw-value', value: bytes('q') },
        timestamp: { kind: 'raw-timestamp', micros: -(2n ** 63n) },
        input: { kind: 'raw-value', value: bytes('state') },
      },
    ]);
  });

  test('over many messages keeps the order of its entries and takes its position from the last', () => {
    const change = changeOf(
      dataMessage({ chunks: [chunk(setCell('f', 'a', '1'))], ...openEnd }),
      continuedMessage({ chunks: [chunk(setCell('f', 'b', '2')), chunk(setCell('f', 'c', '3'))], ...openEnd }),
      continuedMessage({ chunks: [], token: 'last' }),
    );
    expect(change.entries).toMatchObject([
      { qualifier: bytes('a') },
      { qualifier: bytes('b') },
      { qualifier: bytes('c') },
    ]);
    expect(change.token).toBe('last');
  });

  test('may hold a value in pieces, of which only the first names the cell', () => {
    const change = changeOf(
      dataMessage({ chunks: [chunk(setCell('f', 'before', 'x')), piece('abc', 0, 8)], ...openEnd }),
      continuedMessage({ chunks: [piece('def', 3, 8)], ...openEnd }),
      continuedMessage({ chunks: [piece('gh', 6, 8, true), chunk(setCell('f', 'after', 'y'))] }),
    );
    expect(change.entries[1]).toEqual({
      kind: 'set-cell',
      family: 'f',
      qualifier: bytes('q'),
      timestampMicros: 1000n,
      value: bytes('abcdefgh'),
    });
    expect(change.entries).toHaveLength(3);
  });

  test('may hold a value in a single piece', () => {
    expect(changeOf(dataMessage({ chunks: [piece('abc', 0, 3, true)] })).entries).toMatchObject([
      { value: bytes('abc') },
    ]);
  });

  test('is estimated alike whether its value came in pieces or not', () => {
    const whole = changeOf(dataMessage({ chunks: [chunk(setCell('f', 'q', 'abcdef'))] }));
    const pieces = changeOf(
      dataMessage({ chunks: [piece('abc', 0, 6)], ...openEnd }),
      continuedMessage({ chunks: [piece('def', 3, 6, true)] }),
    );
    expect(pieces.bytes).toBe(whole.bytes);
  });

  test('has buffers of its own: what comes into the place of its message changes nothing', () => {
    const message = dataMessage({ chunks: [chunk(setCell('f', 'q', 'value'))] });
    const change = changeOf(message);
    message.fill(0);
    expect(change.rowKey).toEqual(bytes('row'));
    expect(change.entries).toMatchObject([{ qualifier: bytes('q'), value: bytes('value') }]);
  });

  test('that is open is counted with the announced size of its value, and not when it is done', () => {
    const assembler = new ChangeAssembler(1 << 20);
    assembler.feed(dataMessage({ chunks: [piece('abc', 0, 50_000)], ...openEnd }));
    expect(assembler.openBytes).toBeGreaterThan(50_000);
    const small = new ChangeAssembler(1 << 20);
    small.feed(dataMessage({}));
    expect(small.openBytes).toBe(0);
  });

  test('takes room for a large value with its second piece, which is asked for when it is its turn', () => {
    const size = 60 * 1024 * 1024;
    const assembler = new ChangeAssembler(1 << 30);
    const before = process.memoryUsage().arrayBuffers;
    assembler.feed(dataMessage({ chunks: [piece('abc', 0, size)], ...openEnd }));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(size / 10);
    assembler.feed(continuedMessage({ chunks: [piece('def', 3, size)], ...openEnd }));
    expect(process.memoryUsage().arrayBuffers - before).toBeGreaterThan(size / 2);
  });

  test('above the most that is held fails by the name of its row before its value is held', () => {
    const assembler = new ChangeAssembler(1000);
    const huge = dataMessage({ rowKey: Buffer.of(0x61, 0), chunks: [piece('a', 0, 2 ** 31 - 1)], ...openEnd });
    expect(() => assembler.feed(huge)).toThrow(ChangeTooLargeError);
    expect(() => new ChangeAssembler(1000).feed(huge)).toThrow('a change of the row a\\x00 has more than 1000 bytes');
  });

  test('above the most that is held by many small entries fails too', () => {
    const assembler = new ChangeAssembler(1000);
    assembler.feed(dataMessage(openEnd));
    const more = continuedMessage({ chunks: [chunk(setCell('f', 'q', 'x'.repeat(400)))], ...openEnd });
    assembler.feed(more);
    assembler.feed(more);
    expect(() => assembler.feed(more)).toThrow(ChangeTooLargeError);
  });
});

test('a heartbeat is a token and a low watermark', () => {
  expect(feed(heartbeatMessage('here', 3_000_000_004n))).toEqual([
    { kind: 'heartbeat', token: 'here', lowWatermark: 3_000_000_004n },
  ]);
});

describe('a close', () => {
  const moved = { code: 'OUT_OF_RANGE', message: 'the partition has moved' };
  const tokens = [wireToken(rangeOf('a', 'm'), 't1'), wireToken(rangeOf('m', ''), 't2')];
  const held = [
    { range: rangeOf('a', 'm'), token: 't1' },
    { range: rangeOf('m', ''), token: 't2' },
  ];

  test('with OK is the end time', () => {
    expect(feed(closeMessage({ status: { code: 0, message: '', details: [] } }))).toEqual([
      { kind: 'close', isEnd: true, status: { code: 'OK', message: '' }, successors: [] },
    ]);
  });

  test('with a new partition for each token pairs them, and keeps what each token is for', () => {
    const newPartitions = [rangeOf('', 'm'), rangeOf('m', '')].map(
      (range) => wireToken(range, '').partition ?? never(),
    );
    expect(feed(closeMessage({ continuationTokens: tokens, newPartitions }))).toEqual([
      {
        kind: 'close',
        isEnd: false,
        status: moved,
        successors: [
          { target: rangeOf('', 'm'), token: held[0] },
          { target: rangeOf('m', ''), token: held[1] },
        ],
      },
    ]);
  });

  test("without new partitions goes on in the tokens' own", () => {
    expect(feed(closeMessage({ continuationTokens: tokens }))).toMatchObject([
      { successors: held.map((token) => ({ target: token.range, token })) },
    ]);
  });

  test('with bounds that are not set, or empty, has none there', () => {
    const partition = { rowRange: { startKey: undefined, endKey: undefined } };
    expect(feed(closeMessage({ continuationTokens: [{ partition, token: 't' }] }))).toMatchObject([
      { successors: [{ target: rangeOf('', '') }] },
    ]);
  });
});

describe('what the protocol forbids is refused:', () => {
  const token = wireToken(rangeOf('a', 'b'), 't');
  const open = dataMessage(openEnd);
  const begun = dataMessage({ chunks: [piece('abc', 0, 6)], ...openEnd });
  const value = { familyName: 'f', columnQualifier: rawValue('q'), timestamp: rawValue('t'), input: rawValue('i') };
  const odd: Value = { type: undefined, kind: { $case: 'floatValue', value: 1 } };
  const closedEnd = {
    rowRange: { startKey: undefined, endKey: { $case: 'endKeyClosed' as const, value: bytes('b') } },
  };

  test.each<readonly [string, readonly Buffer[], string]>([
    ['a message without a record', [Buffer.alloc(0)], 'no record'],
    ['a message that is cut', [dataMessage({}).subarray(0, 10)], 'cannot be decoded'],
    ['a change without a key', [dataMessage({ rowKey: Buffer.alloc(0) })], 'row key'],
    ['a change without a commit time', [dataMessage({ commitTimestamp: undefined })], 'commit time'],
    [
      'a time whose nanoseconds are a second',
      [dataMessage({ commitTimestamp: { seconds: 1n, nanos: 1e9 } })],
      'a time',
    ],
    ['a change without an entry', [dataMessage({ chunks: [] })], 'without an entry'],
    ['a change without a type', [dataMessage({ type: Type.TYPE_UNSPECIFIED })], 'type'],
    ['a change of an unknown type', [dataMessage({ type: 9 as Type })], 'type'],
    ['a change of a user without a cluster', [dataMessage({ sourceClusterId: '' })], 'source cluster'],
    ['a collection with a cluster', [dataMessage({ type: Type.GARBAGE_COLLECTION })], 'source cluster'],
    ['a change that begins in another', [open, dataMessage({})], 'another change began'],
    ['a change that goes on and had not begun', [continuedMessage({})], 'had not begun'],
    ['a change that goes on with a key', [open, continuedMessage({ rowKey: bytes('row') })], 'named a row key'],
    ['a change that goes on with nothing', [open, continuedMessage({ chunks: [], ...openEnd })], 'with nothing'],
    ['an end without a token', [dataMessage({ token: '' })], 'without a token'],
    ['an end without a low watermark', [dataMessage({ estimatedLowWatermark: undefined })], 'low watermark'],
    ['a heartbeat in a change', [open, heartbeatMessage('t')], 'inside a change'],
    ['a heartbeat without a token', [heartbeatMessage('')], 'without a token'],
    ['a close in a change', [open, closeMessage({ continuationTokens: [token] })], 'inside a change'],
    ['an unknown kind of entry', [dataMessage({ chunks: [chunk(undefined)] })], 'kind'],
    ['an entry of no family', [dataMessage({ chunks: [chunk(setCell('', 'q', 'v'))] })], 'no family'],
    [
      'a delete of a row',
      [dataMessage({ chunks: [chunk({ $case: 'deleteFromRow', value: {} })] })],
      'family by family',
    ],
    [
      'an aggregate of an unknown value',
      [dataMessage({ chunks: [chunk({ $case: 'addToCell', value: { ...value, input: odd } })] })],
      'floatValue',
    ],
    [
      'an aggregate without a value',
      [dataMessage({ chunks: [chunk({ $case: 'addToCell', value: { ...value, timestamp: undefined } })] })],
      'value',
    ],
    ['a value that starts in its middle', [dataMessage({ chunks: [piece('abc', 3, 6)], ...openEnd })], 'family'],
    ['a value of no size', [dataMessage({ chunks: [piece('', 0, 0)], ...openEnd })], 'no size'],
    ['a value of a negative size', [dataMessage({ chunks: [piece('', 0, -1)], ...openEnd })], 'no size'],
    ['a value of two sizes', [begun, continuedMessage({ chunks: [piece('def', 3, 7, true)] })], 'two sizes'],
    ['a piece that is missing', [begun, continuedMessage({ chunks: [piece('f', 5, 6, true)] })], 'missing'],
    ['a piece that came twice', [begun, begun], 'another change began'],
    ['a value that is too long', [begun, continuedMessage({ chunks: [piece('defg', 3, 6, true)] })], 'longer'],
    ['a value that is too short', [begun, continuedMessage({ chunks: [piece('de', 3, 6, true)] })], 'shorter'],
    [
      'a piece of another cell',
      [
        begun,
        continuedMessage({
          chunks: [{ ...piece('def', 3, 6, true), mutation: { mutation: setCell('g', 'q', 'def') } }],
        }),
      ],
      'another cell',
    ],
    [
      'an entry in the middle of a value',
      [begun, continuedMessage({ chunks: [chunk(setCell('f', 'r', 'v'))] })],
      'before the value',
    ],
    [
      'an entry behind a piece in one message',
      [dataMessage({ chunks: [piece('abc', 0, 6), chunk(setCell('f', 'r', 'v'))], ...openEnd })],
      'not whole',
    ],
    [
      'a delete in pieces',
      [
        dataMessage({
          chunks: [
            {
              chunkInfo: { chunkedValueSize: 3, chunkedValueOffset: 0, lastChunk: true },
              mutation: { mutation: { $case: 'deleteFromFamily', value: { familyName: 'f' } } },
            },
          ],
        }),
      ],
      'no cell',
    ],
    ['an end in the middle of a value', [dataMessage({ chunks: [piece('abc', 0, 6)] })], 'was whole'],
    [
      'a close with OK and tokens',
      [closeMessage({ status: { code: 0, message: '', details: [] }, continuationTokens: [token] })],
      'with OK',
    ],
    ['a close without tokens', [closeMessage({})], 'without a token'],
    [
      'a close with fewer partitions than tokens',
      [closeMessage({ continuationTokens: [token, token], newPartitions: [token.partition ?? never()] })],
      '1 partitions and 2 tokens',
    ],
    ['a close with an empty token', [closeMessage({ continuationTokens: [{ ...token, token: '' }] })], 'empty token'],
    [
      'a close with a token of no partition',
      [closeMessage({ continuationTokens: [{ token: 't', partition: undefined }] })],
      'without its partition',
    ],
    [
      'a partition with a closed end',
      [closeMessage({ continuationTokens: [{ token: 't', partition: closedEnd }] })],
      'no range',
    ],
  ])('%s', (_name, messages, words) => {
    expect(() => feed(...messages)).toThrow(StreamProtocolError);
    expect(() => feed(...messages)).toThrow(words);
  });

  test('the end of the stream in a change', () => {
    const assembler = new ChangeAssembler(1 << 20);
    assembler.end();
    assembler.feed(dataMessage(openEnd));
    expect(() => {
      assembler.end();
    }).toThrow('the stream ended inside a change');
  });
});

function never(): never {
  throw new Error('the helper always names a partition');
}
