import { type RedeliveryReason, toError } from '../../base/errors.ts';
import type { Logger } from '../../base/logging.ts';
import { CONTENT_TYPES } from '../forms/documents.ts';
import { type RequestProblem, RowRequestError } from '../forms/problems.ts';
import { STATUSES } from '../../model/status.ts';
import type { Outcome } from '../outcome.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Why a request over HTTP has no result. */
export interface HttpFailure {
  readonly status: number;
  /** For programs; the message is for people. */
  readonly code: string;
  readonly message: string;
  /** The service's own words where they may quote the row: for the caller, who wrote it, and for no log. */
  readonly detail?: string;
  /** Of a request that is not valid: the first 100 of them. */
  readonly problems?: readonly RequestProblem[];
  /** False only where it is known that nothing was applied: the same request may then be sent again without harm. */
  readonly mayHaveApplied: boolean;
}

/** Answers to a request that was not sent: the caller can fix it, or wait. */
export const unsent = (status: number, code: string, message: string): HttpFailure => ({
  status,
  code,
  message,
  mayHaveApplied: false,
});

const invalid = ({ problems, count }: RowRequestError): HttpFailure => {
  const told = count > problems.length ? `, of which the first ${problems.length} are told` : '';
  const message = `the request has ${count} ${count === 1 ? 'problem' : 'problems'}${told}`;
  return { ...unsent(400, 'invalid-request', message), problems };
};

/** The failure of a request that was not answered with success. */
export function failureOf(outcome: Exclude<Outcome, { kind: 'answered' }>): HttpFailure {
  switch (outcome.kind) {
    case 'rejected':
      return { ...unsent(422, 'refused', outcome.message), detail: outcome.status.message };
    case 'ambiguous': {
      const status = outcome.isTimeout ? 504 : 502;
      return { status, code: 'ambiguous', message: outcome.message, mayHaveApplied: true };
    }
    case 'fatal': {
      const { reason, message, status } = outcome;
      const isOpen = status === undefined ? reason === 'draining' : STATUSES[status.code].leavesEffectOpen;
      return { status: FATAL_STATUS[reason] ?? 500, code: reason, message, mayHaveApplied: isOpen };
    }
    case 'busy':
      return unsent(429, 'busy', 'maxInFlightRequests of this instance are out; nothing was sent');
    default:
      return outcome satisfies never;
  }
}

/** Every other reason needs somebody of ours: 500. */
const FATAL_STATUS: Readonly<Partial<Record<RedeliveryReason, number>>> = {
  deadline: 504,
  draining: 503,
  client: 503,
  transient: 503,
  'missing-table': 502,
  'missing-family': 502,
};

/** The failure of a request that something was thrown for. */
export function failureOfError(error: unknown): HttpFailure {
  if (error instanceof RowRequestError) return invalid(error);
  const message = `the request could not be processed: ${toError(error).message}`;
  return { status: 500, code: 'unexpected', message, mayHaveApplied: true };
}

const RETRY_AFTER_SECONDS = 1;

/** The answer that tells of a failure. Always JSON. */
export function failureAnswer(failure: HttpFailure, { requestId }: { readonly requestId: string }): HttpAnswer {
  const { status, ...error } = failure;
  return {
    status,
    headers: {
      'content-type': CONTENT_TYPES.json,
      'x-request-id': requestId,
      ...(status === 405 && { allow: 'POST' }),
      ...((status === 429 || status === 503) && { 'retry-after': String(RETRY_AFTER_SECONDS) }),
    },
    body: Buffer.from(JSON.stringify({ error: { ...error, requestId } })),
  };
}

const MAX_LOGGED = 10;

/** What the caller cannot fix is an error of ours; the rest is a transient failure, or the caller's business. */
export function reportFailure(
  { status, code, message, problems }: HttpFailure,
  { requestId }: { readonly requestId: string },
  logger: Logger,
): void {
  const severity = status === 500 || status === 502 ? 'ERROR' : 'WARNING';
  const paths = problems?.slice(0, MAX_LOGGED).map(({ path }) => path);
  logger.log(severity, message, { requestId, status, code, ...(paths && { problems: paths }) });
}
