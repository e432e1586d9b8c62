import { httpRequest } from '../support/http-load.ts';
import { keyOf } from './rows.ts';

/** What a push carries: records as the lines of one message. */
export interface PushShape {
  readonly recordsPerMessage: number;
  /** Bytes of the value that each record brings along. */
  readonly valueBytes?: number;
  /** Bytes of the value that the serializer makes of each record. */
  readonly expandedBytes?: number;
}

/** Prepared pushes with a row key of its own for every record, so that no row is hot. */
export function preparedPushes(messages: number, shape: PushShape): Buffer[] {
  const value = shape.valueBytes === undefined ? undefined : 'v'.repeat(shape.valueBytes);
  const record = (row: number): string =>
    JSON.stringify({ key: keyOf(row), value, ...(value === undefined && { valueBytes: shape.expandedBytes ?? 0 }) });
  return Array.from({ length: messages }, (_, message) => {
    const first = message * shape.recordsPerMessage;
    const lines = Array.from({ length: shape.recordsPerMessage }, (_unused, index) => record(first + index));
    return pushOfLines(String(message), lines);
  });
}

/** A prepared push of one message. */
export const pushOfLines = (messageId: string, lines: readonly string[]): Buffer =>
  httpRequest(pushBody(messageId, lines.join('\n')));

/** The wrapped body of a push subscription, with both spellings of its fields, as the service sends it. */
function pushBody(messageId: string, data: string): string {
  const publishTime = '2026-01-01T00:00:00.000Z';
  return JSON.stringify({
    message: {
      data: Buffer.from(data).toString('base64'),
      messageId,
      message_id: messageId,
      publishTime,
      publish_time: publishTime,
    },
    subscription: 'projects/bench/subscriptions/rows',
  });
}
