import { startedOnce } from './entry-point.ts';
import { serveHttp } from './wiring/http-handler.ts';
import { startRowRequest } from './wiring/row-request.ts';

/**
 * HTTP → one `CheckAndMutateRow` or `ReadModifyWriteRow`, its result in the answer. Sent once: an answer without a result
 * says whether the request may have been applied. Who may call is the platform's to decide: deploy it without public access.
 */
export const rowRequest = startedOnce(() => startRowRequest(process.env), serveHttp);
