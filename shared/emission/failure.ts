import type { OutgoingMessage } from '../model/publishing.ts';
import type { Status } from '../model/status.ts';
import { ConnectorError } from '../base/errors.ts';

/**
 * Why a unit hands nothing more on:
 * - `refused`: the service refused one message alone, for its own sake, and the policy is to fail;
 * - `oversized`: a message above the size that Pub/Sub takes, and the policy is to fail;
 * - `unhandled`: a refused message could not be set apart;
 * - `setup`: topic, rights or configuration are wrong, and stayed so for longer than a publisher is patient;
 * - `source`: whoever hands messages over cannot go on;
 * - `ended`: the time of the slot was used up, or its lease is lost. Nothing is wrong.
 */
export type FailureKind = 'refused' | 'oversized' | 'unhandled' | 'setup' | 'source' | 'ended';

/** The end of a unit's window: nothing behind the failure counts, and the unit is read again from its position. */
export class EmissionError extends ConnectorError {
  override readonly name = 'EmissionError';
  readonly kind: FailureKind;
  /** The service's words, where it said any. */
  readonly status: Status | undefined;

  constructor(
    kind: FailureKind,
    message: string,
    { status, cause }: { readonly status?: Status | undefined; readonly cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.status = status;
  }
}

/** A message that the topic will never take as it is, for the policy that sets it apart. */
export interface RefusedMessage {
  readonly message: OutgoingMessage;
  /** Why, as a sentence that names the rule and no data. */
  readonly problem: string;
  readonly status: Status | undefined;
}
