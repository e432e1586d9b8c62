import { abortReason } from '../../../shared/base/clock.ts';
import { toError } from '../../../shared/base/errors.ts';
import type { OutgoingMessage, Publisher } from '../../../shared/model/publishing.ts';
import { STATUSES, statusName } from '../../../shared/model/status.ts';
import { shortened } from '../errors.ts';
import type { Ending } from '../interruption.ts';
import type { Pace } from '../pace.ts';
import { Window } from '../window.ts';
import type { Packed } from './pack.ts';
import { addFailed, addPublished, type Tally } from './tally.ts';

/** At most this much is on its way: it bounds the memory of a command whose topic answers slowly. */
const MAX_MESSAGES_ON_THEIR_WAY = 4_000;
const MAX_BYTES_ON_THEIR_WAY = 32 * 1024 * 1024;

export interface Sending {
  readonly publisher: Publisher;
  readonly pace: Pace;
  readonly signal: AbortSignal;
  readonly ending: Ending;
  readonly tally: Tally;
  /** Something was read, or a publish has ended. */
  readonly onAdvance: () => void;
  /** All messages have one ordering key: after a failed one none may be published. */
  readonly hasOneKey: boolean;
}

/**
 * Publishes messages as they come, no faster than they are confirmed, and keeps account of each. Resolves when every
 * message that was begun has settled; once the signal aborts it begins none, and waits a moment for those on their way.
 *
 * @returns why it stopped before the end of the input, or undefined.
 */
export async function sendAll(messages: AsyncIterable<Packed>, sending: Sending): Promise<string | undefined> {
  const { publisher, pace, signal, ending, tally, onAdvance, hasOneKey } = sending;
  const window = new Window(MAX_MESSAGES_ON_THEIR_WAY, MAX_BYTES_ON_THEIR_WAY);
  const stop: { reason?: string } = {};
  try {
    for await (const packed of messages) {
      if (packed.message === undefined) {
        addFailed(tally, 1, { from: packed.at, to: packed.at, reason: packed.problem });
        continue;
      }
      const { message, from, to, records } = packed;
      await pace.turn(records, signal);
      if (signal.aborted) throw abortReason(signal);
      await window.start(sizeOf(message), async () => {
        const failure = await publisher.publish(message, ending.confirming).then(() => undefined, toError);
        if (failure === undefined) {
          addPublished(tally, records, message.data.length);
        } else if (ending.confirming.aborted) {
          tally.unconfirmedRecords += records;
        } else {
          const reason = shortened(failure.message);
          addFailed(tally, records, { from, to, reason });
          if (hasOneKey || isHopeless(failure)) stop.reason ??= reason;
        }
        onAdvance();
      });
      onAdvance();
      if (stop.reason !== undefined) break;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    stop.reason ??= 'interrupted';
  } finally {
    await window.drain();
  }
  return stop.reason;
}

/**
 * Whether the next message would be answered so as well, and there is no point in going on. A service that is not there
 * is such an answer: the publisher has tried for a minute by then.
 */
function isHopeless(error: Error): boolean {
  if (!('code' in error) || typeof error.code !== 'number') return false;
  const { blamesSetup, isUnreached } = STATUSES[statusName(error.code)];
  return blamesSetup || isUnreached;
}

const sizeOf = ({ data, attributes, orderingKey = '' }: OutgoingMessage): number =>
  Object.entries(attributes).reduce((sum, [name, value]) => sum + name.length + value.length, data.length) +
  orderingKey.length;
