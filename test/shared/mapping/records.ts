import type { InputRecord } from '../../../shared/model/record.ts';

/** A moment with microseconds, so that flooring it shows. */
export const PUBLISH_TIME_MICROS = 1_764_455_172_123_456n;

export interface MessageParts {
  readonly attributes?: Readonly<Record<string, string>>;
  readonly orderingKey?: string;
  readonly messageId?: string;
  readonly publishTimeMicros?: bigint;
}

/** A record that is its whole message. `data` that is no Buffer or text is written as JSON. */
export function recordOf(data: unknown, parts: MessageParts = {}): InputRecord {
  const bytes = Buffer.isBuffer(data) ? data : Buffer.from(typeof data === 'string' ? data : JSON.stringify(data));
  return {
    index: 0,
    data: bytes,
    message: {
      messageId: 'm-1',
      publishTimeMicros: PUBLISH_TIME_MICROS,
      attributes: {},
      orderingKey: '',
      subscription: '',
      ...parts,
      data: bytes,
    },
  };
}

/** A JSON text as a record, for numbers that JavaScript would not write like that. */
export const jsonRecord = (text: string, parts: MessageParts = {}): InputRecord => recordOf(Buffer.from(text), parts);
