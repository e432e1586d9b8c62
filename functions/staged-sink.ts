import { startStagedSink } from './wiring/staged-sink.ts';
import { entryPoint } from './entry-point.ts';

/**
 * Pub/Sub push → envelopes, each applied to its row exactly once. 204 acknowledges: every record of the message is
 * stored in Firestore, or with the commit on-receipt in its row; is skipped, or durably handed to the failure policy.
 */
export const stagedSink = entryPoint(() => startStagedSink(process.env));
