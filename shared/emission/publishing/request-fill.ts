import type { Outbound } from '../outbound.ts';
import { type Pace, shareOf } from './pace.ts';

/** Messages of one request: the service's limit. */
export const MAX_MESSAGES = 1_000;

/** A request gathers so much; more makes no message cheaper. A message above it has a request of its own. */
const GATHERED_BYTES = 1024 * 1024;

/**
 * Tells, message by message, whether the next still belongs into the same request: the first always does; the last does
 * when it is not to be sent at all.
 */
export function requestFill(pace: Pace, width = Infinity): (message: Outbound) => boolean {
  const most = Math.min(width, shareOf(pace, MAX_MESSAGES));
  const mostBytes = shareOf(pace, GATHERED_BYTES);
  let count = 0;
  let bytes = 0;
  return (message) => {
    count += 1;
    bytes += message.bytes;
    return count === 1 || (count <= most && bytes <= mostBytes && message.problem === undefined);
  };
}
