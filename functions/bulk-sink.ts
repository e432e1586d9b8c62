import { startBulkSink } from './wiring/bulk-sink.ts';
import { entryPoint } from './entry-point.ts';

/**
 * Pub/Sub push → row mutations, at least once. 204 acknowledges: every record of the message is applied, skipped, or
 * durably handed to the failure policy. Anything else asks Pub/Sub to deliver the message again.
 */
export const bulkSink = entryPoint(() => startBulkSink(process.env));
