import type { InputRecord, PushedMessage } from '../../shared/model/record.ts';

/** A pushed message of which a test names only what matters to it. */
export const pushedMessage = (given: Partial<PushedMessage> = {}): PushedMessage => ({
  messageId: '1',
  publishTimeMicros: 1_767_225_600_000_000n,
  data: Buffer.alloc(0),
  attributes: {},
  orderingKey: '',
  subscription: 'projects/p/subscriptions/s',
  ...given,
});

/** The one record of such a message. */
export const recordOf = (given: Partial<PushedMessage> = {}, index = 0): InputRecord => {
  const message = pushedMessage(given);
  return { message, index, data: message.data };
};
