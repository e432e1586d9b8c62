import type { Status } from '../../../../../shared/model/status.ts';
import type { ReadChangeStreamRequest } from '../../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { Timestamp } from '../../../../../shared/proto/google/protobuf/timestamp.ts';
import type { OpenRequest } from './change-stream.ts';
import { foreignToken, WRONG_PARTITION } from './refusals.ts';
import { type Nanos, nanosOf, spanOf } from './span.ts';

/** What a request asks a stream for, or why it is refused whatever the stream. Pure. */
export function openRequestOf(request: ReadChangeStreamRequest): OpenRequest | Status {
  const span = spanOf(request.partition);
  if (!span) return WRONG_PARTITION;
  const { startFrom, endTime, heartbeatDuration } = request;
  const options = {
    span,
    endTime: endTime && microsOf(endTime),
    heartbeat: heartbeatDuration && nanosOf(heartbeatDuration),
  };
  switch (startFrom?.$case) {
    case 'startTime':
      return { ...options, from: { startTime: microsOf(startFrom.value) } };
    case 'continuationTokens': {
      const tokens = [];
      for (const [index, { partition, token }] of startFrom.value.tokens.entries()) {
        const tokenSpan = spanOf(partition);
        if (!tokenSpan) return foreignToken(index);
        tokens.push({ span: tokenSpan, text: token });
      }
      return { ...options, from: { tokens } };
    }
    case undefined:
      return { ...options, from: undefined };
  }
}

/** The service cuts times to microseconds. */
function microsOf(time: Timestamp): Nanos {
  const nanos = nanosOf(time);
  return nanos - (nanos % 1000n);
}
