import { BodyAdmission, BodyRoom } from '../../functions/bodies/admission.ts';
import { TakenBody } from '../../functions/bodies/take-body.ts';

/** What a test says of a pushed message; the rest is made up. */
export interface TestMessage {
  readonly data?: Uint8Array | string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly messageId?: string;
  /** RFC 3339, to the microsecond. */
  readonly publishTime?: string;
  /** Default: that of the pipeline `sink`. */
  readonly subscription?: string;
}

/** 2026-01-02T03:04:05.678901Z, and what is left of it in milliseconds as a cell's timestamp. */
export const PUBLISH_TIME = '2026-01-02T03:04:05.678901Z';
export const PUBLISH_TIME_MICROS = 1_767_323_045_678_000n;

let messages = 0;

/** The body of a push subscription's request, wrapped as Pub/Sub wraps it. An absent field is absent there too. */
export function pushBody({
  data,
  attributes,
  messageId,
  publishTime = PUBLISH_TIME,
  subscription = 'projects/p/subscriptions/records-sink',
}: TestMessage): object {
  messages += 1;
  const id = messageId ?? `message-${messages}`;
  return {
    message: {
      ...(data !== undefined && { data: Buffer.from(data).toString('base64') }),
      ...(attributes && { attributes }),
      messageId: id,
      message_id: id,
      publishTime,
      publish_time: publishTime,
    },
    subscription,
  };
}

/** The body of a push as a handler gets it. */
export const takenPush = (message: TestMessage): TakenBody =>
  new TakenBody(Buffer.from(JSON.stringify(pushBody(message))), new BodyRoom(new BodyAdmission(0), 0));
