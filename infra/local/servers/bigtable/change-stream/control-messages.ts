import { STATUS_CODES, type Status } from '../../../../../shared/model/status.ts';
import type { ReadChangeStreamResponse } from '../../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import { intersection, type Nanos, partitionOf, type Span, timestampOf } from './span.ts';
import { advanced, clipped, encodeToken, type Position } from './tokens.ts';
import type { TopologyChange } from './topology.ts';

export const heartbeatMessage = (
  stream: string,
  position: Position,
  lowWatermark: Nanos,
): ReadChangeStreamResponse => ({
  streamRecord: {
    $case: 'heartbeat',
    value: {
      continuationToken: {
        partition: partitionOf(position.span),
        token: encodeToken(stream, position),
      },
      estimatedLowWatermark: timestampOf(lowWatermark),
    },
  },
});

/** The end of a range of time, or an end that nothing follows. */
export const endMessage = (): ReadChangeStreamResponse => closeMessage({ code: 'OK', message: '' }, [], []);

/** What Beam's tests and Google's client expect of a close with successors; published nowhere. */
const CHANGED: Status = { code: 'OUT_OF_RANGE', message: 'The partitions of the change stream have changed' };

interface Successor {
  readonly target: Span;
  readonly piece: Span;
}

/**
 * The close that a change of topology makes of a read: a token for each part of what was read that goes on in another
 * partition, and that partition. Both are named also where they are the same.
 */
export function changedMessage(stream: string, position: Position, change: TopologyChange): ReadChangeStreamResponse {
  const behind = {
    ...advanced(position, change.sequence),
    change: change.number + 1,
    at: position.at > change.at ? position.at : change.at,
  };
  const successors = successorsOf(position.span, change);
  return closeMessage(
    CHANGED,
    successors.map(({ piece }) => ({
      partition: partitionOf(piece),
      token: encodeToken(stream, clipped(behind, piece)),
    })),
    successors.map(({ target }) => partitionOf(target)),
  );
}

function successorsOf(span: Span, change: TopologyChange): Successor[] {
  const successors: Successor[] = [];
  const add = (target: Span, of: Span): void => {
    const piece = intersection(span, of);
    if (piece) successors.push({ target, piece });
  };
  // Of a range that is more than one partition, the rest goes on as it is.
  const left = intersection(span, { start: '', end: change.span.start });
  if (change.span.start !== '' && left) add(left, left);
  for (const target of change.after) add(target, target);
  if (change.span.end !== '') {
    const right = intersection(span, { start: change.span.end, end: '' });
    if (right) add(right, right);
  }
  return successors;
}

type CloseStream = Extract<ReadChangeStreamResponse['streamRecord'], { readonly $case: 'closeStream' }>['value'];

const closeMessage = (
  { code, message }: Status,
  continuationTokens: CloseStream['continuationTokens'],
  newPartitions: CloseStream['newPartitions'],
): ReadChangeStreamResponse => ({
  streamRecord: {
    $case: 'closeStream',
    value: { status: { code: STATUS_CODES[code], message, details: [] }, continuationTokens, newPartitions },
  },
});
