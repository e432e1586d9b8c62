import { STATUSES, type Status } from '../../model/status.ts';
import type { PublishReply } from '../ports.ts';

/**
 * The meaning of a reply. A publish may be repeated without harm, so whatever may pass is tried again:
 * - `retry`: it passes by itself;
 * - `slow-down`: the same, and the service asks for less;
 * - `refused`: something of the request is wrong at every attempt; of a request with one message, that message;
 * - `setup`: topic, rights or configuration are wrong until somebody acts. No message is to blame.
 */
export type PublishVerdict =
  | { readonly kind: 'confirmed' }
  | { readonly kind: 'retry' | 'slow-down' | 'refused' | 'setup'; readonly status: Status };

export function verdictOf(reply: PublishReply): PublishVerdict {
  if (reply.kind === 'confirmed') return reply;
  const { status } = reply;
  if (status.code === 'RESOURCE_EXHAUSTED') return { kind: 'slow-down', status };
  const { passes, blamesCall } = STATUSES[status.code];
  if (passes !== 'no') return { kind: 'retry', status };
  return { kind: blamesCall ? 'refused' : 'setup', status };
}
