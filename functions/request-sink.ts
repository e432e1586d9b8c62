import { entryPoint } from './entry-point.ts';
import { startRequestSink } from './wiring/request-sink.ts';

/**
 * Pub/Sub push → one conditional or read-modify-write request for each record. 204 acknowledges: every request of the
 * message is answered and its result published, skipped, or durably handed to the failure policy. Anything else asks
 * Pub/Sub to deliver the message again, and the requests with it.
 */
export const requestSink = entryPoint(() => startRequestSink(process.env));
