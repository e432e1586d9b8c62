import type { RedeliveryReason } from '../../base/errors.ts';
import type { RequestProblem } from '../forms/problems.ts';
import { STATUSES } from '../../model/status.ts';
import type { Outcome } from '../outcome.ts';

/** Why a request over HTTP has no result. Pure. */
export interface HttpFailure {
  readonly status: number;
  /** For programs; the message is for people. */
  readonly code: string;
  readonly message: string;
  /** The service's own words where they may quote the row: for the caller, who wrote it, and for no log. */
  readonly detail?: string;
  /** Of a request that is not valid: all of them. */
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

export const invalid = (problems: readonly RequestProblem[]): HttpFailure => ({
  ...unsent(
    400,
    'invalid-request',
    `the request has ${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}`,
  ),
  problems,
});

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
