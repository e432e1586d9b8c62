import { wirePartition, wireTime } from '../../shared/change-stream/reading/wire-rules.ts';
import { closedBound, openBound, type RowRange, UNBOUNDED } from '../../shared/model/row-range.ts';
import {
  ReadChangeStreamResponse,
  type ReadChangeStreamResponse_CloseStream as CloseStream,
  type ReadChangeStreamResponse_DataChange as DataChange,
  ReadChangeStreamResponse_DataChange_Type as Type,
  type ReadChangeStreamResponse_MutationChunk as Chunk,
} from '../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { Mutation, Value } from '../../shared/proto/google/bigtable/v2/data.ts';

/** Messages of a `ReadChangeStream`, as the service writes them. */

export type Step = NonNullable<Mutation['mutation']>;

const encode = (record: ReadChangeStreamResponse['streamRecord']): Buffer =>
  Buffer.from(ReadChangeStreamResponse.encode({ streamRecord: record }).finish());

export const setCell = (family: string, qualifier: string, value: string | Buffer, timestampMicros = 1000n): Step => ({
  $case: 'setCell',
  value: { familyName: family, columnQualifier: Buffer.from(qualifier), timestampMicros, value: Buffer.from(value) },
});

export const rawValue = (value: string): Value => ({
  type: undefined,
  kind: { $case: 'rawValue', value: Buffer.from(value) },
});

export const chunk = (step: Step | undefined): Chunk => ({ chunkInfo: undefined, mutation: { mutation: step } });

/** A piece of a value. Pieces behind the first name no cell, as those of the service. */
export const piece = (value: string, offset: number, size: number, lastChunk = false): Chunk => ({
  chunkInfo: { chunkedValueSize: size, chunkedValueOffset: offset, lastChunk },
  mutation: { mutation: offset === 0 ? setCell('f', 'q', value) : setCell('', '', value, 0n) },
});

export const dataMessage = (data: Partial<DataChange>): Buffer =>
  encode({
    $case: 'dataChange',
    value: {
      type: Type.USER,
      sourceClusterId: 'c1',
      rowKey: Buffer.from('row'),
      commitTimestamp: wireTime(1_700_000_000_000_000_001n),
      tiebreaker: 0,
      chunks: [chunk(setCell('f', 'q', 'v'))],
      done: true,
      token: 'token',
      estimatedLowWatermark: wireTime(1_700_000_000_000_000_000n),
      ...data,
    },
  });

/** What goes on with the change before it. */
export const continuedMessage = (data: Partial<DataChange>): Buffer =>
  dataMessage({
    type: Type.CONTINUATION,
    sourceClusterId: '',
    rowKey: Buffer.alloc(0),
    commitTimestamp: undefined,
    ...data,
  });

/** What leaves its change open. */
export const openEnd = { done: false, token: '', estimatedLowWatermark: undefined } as const;

export const heartbeatMessage = (token: string, lowWatermark = 5n): Buffer =>
  encode({
    $case: 'heartbeat',
    value: {
      continuationToken: { partition: wirePartition(rangeOf('', '')), token },
      estimatedLowWatermark: wireTime(lowWatermark),
    },
  });

/** From a key to another, without it; of an empty one there is no bound. */
export const rangeOf = (start: string, end: string): RowRange => ({
  start: start === '' ? UNBOUNDED : closedBound(Buffer.from(start)),
  end: end === '' ? UNBOUNDED : openBound(Buffer.from(end)),
});

export const closeMessage = (close: Partial<CloseStream>): Buffer =>
  encode({
    $case: 'closeStream',
    value: {
      status: { code: 11, message: 'the partition has moved', details: [] },
      continuationTokens: [],
      newPartitions: [],
      ...close,
    },
  });

export const wireToken = (range: RowRange, token: string): CloseStream['continuationTokens'][number] => ({
  partition: wirePartition(range),
  token,
});
