import { abortReason } from '../base/clock.ts';
import { DeadlineError, RecordError } from '../base/errors.ts';
import type { Runtime } from '../base/runtime.ts';
import { Semaphore } from '../base/semaphore.ts';
import type { ResolvedRequestOptions } from '../config/resolved.ts';
import { guarded } from '../markers/guarded-request.ts';
import type { RowAnswer } from '../model/row-result.ts';
import type { RowReply } from '../model/row-call.ts';
import type { RowRequest } from '../model/row-request.ts';
import type { Status } from '../model/status.ts';
import { formatTableName, type TableName } from '../model/table-name.ts';
import {
  answered,
  type Answered,
  CLOSED,
  type Outcome,
  outOfTime,
  rejectedUnsent,
  unsent,
  WITHHELD,
} from './outcome.ts';
import type { RowExecutor, SendRowCall } from './ports.ts';
import { type Attempt, explain, verdictOf } from './verdict.ts';
import { decodeRowAnswer, encodeRowRequest, METHODS } from './wire.ts';

/** What the executor is told: the pipeline's `requestOptions`, where they are declared with defaults and bounds. */
export interface ExecutorOptions extends Pick<
  ResolvedRequestOptions,
  'requestTimeoutMillis' | 'maxInFlightRequests' | 'perDestinationMetrics'
> {
  /** The instance's default profile when empty. */
  readonly appProfileId: string;
  /** A sink's requests are its records: what is accepted counts as sent. */
  readonly countsRecords: boolean;
}

export interface ExecutorDependencies {
  readonly send: SendRowCall;
  readonly runtime: Runtime;
}

export interface ClosableRowExecutor extends RowExecutor {
  /** Cancels what is out. What is answered from here on, and what comes later, changes and counts nothing. */
  close(): void;
}

/**
 * One attempt for each request and never another: a second one could apply it twice. The order is fixed: marker → room →
 * send → verdict. Whatever happens, the outcome says what is known of the effect.
 */
export function createRowExecutor(
  options: ExecutorOptions,
  { send, runtime: { clock, metrics } }: ExecutorDependencies,
): ClosableRowExecutor {
  const room = new Semaphore(options.maxInFlightRequests);
  const closing = new AbortController();
  const isClosed = (): boolean => closing.signal.aborted;
  let inFlight = 0;
  metrics.observe('inFlightRequests', () => inFlight);

  return {
    async execute(table, request, { signal, wait, group, marker }) {
      let sent: RowRequest;
      try {
        sent = marker ? { kind: 'conditional', request: guarded(request, marker) } : request;
      } catch (error) {
        if (!(error instanceof RecordError)) throw error;
        metrics.count('requestsFailed');
        return rejectedUnsent(error);
      }
      const release = (signal.aborted ? undefined : room.tryAcquire()) ?? (await enter(signal, wait));
      if (typeof release !== 'function') return release;
      try {
        if (isClosed()) return CLOSED;
        if (group?.isOver) return WITHHELD;
        const startedAt = clock.now();
        const encoded = encodeRowRequest(table, options.appProfileId, sent);
        let reply: RowReply;
        inFlight += 1;
        try {
          reply = await send({
            method: METHODS[sent.kind],
            table,
            appProfileId: options.appProfileId,
            request: encoded,
            timeoutMillis: options.requestTimeoutMillis,
            signals: [signal, closing.signal],
          });
        } finally {
          inFlight -= 1;
        }
        if (isClosed()) return CLOSED;
        const outcome = outcomeOf(reply, { asked: request, sent, table, isGuarded: marker !== undefined }, signal);
        if (group && (outcome.kind === 'ambiguous' || outcome.kind === 'fatal')) group.isOver = true;
        if (wasSent(reply)) metrics.record('rowRequestLatency', clock.now() - startedAt);
        return outcome;
      } finally {
        // Not before the group knows: the next in line may belong to it.
        release();
      }
    },
    close() {
      closing.abort(new Error('this instance is shutting down'));
    },
  };

  /** A permit once one is free, or why there is none. */
  async function enter(signal: AbortSignal, wait: boolean): Promise<(() => void) | Outcome> {
    if (signal.aborted) return outOfTime(signal);
    if (!wait) return { kind: 'busy' };
    try {
      return await room.acquire(signal);
    } catch {
      return outOfTime(signal);
    }
  }

  function outcomeOf(reply: RowReply, { asked, sent, table, isGuarded }: Sent, signal: AbortSignal): Outcome {
    if (reply.kind === 'failed' && reply.isUnsent) return unsent(table, reply.status, signal);
    countAccepted(table);
    const attempted = { method: METHODS[sent.kind], table, isGuarded };
    if (reply.kind === 'failed') return failed(attempted, statusOf(reply, signal));
    const answer = readAnswer(sent, reply.answer);
    if (!answer) return failed(attempted, UNREADABLE, { kind: 'ambiguous', isTimeout: false });
    const outcome = answered(asked, answer, isGuarded);
    countAnswer(outcome);
    return outcome;
  }

  function failed(attempted: Attempt, status: Status, verdict = verdictOf(status)): Outcome {
    const message = explain(attempted, status, verdict);
    metrics.count('requestsFailed');
    metrics.count('errorClass.errors', 1, status.code);
    if (status.code === 'DEADLINE_EXCEEDED') metrics.count('requestsTimedOut');
    return { ...verdict, status, message };
  }

  function countAccepted(table: TableName): void {
    metrics.count('requestsAccepted');
    if (options.countsRecords) metrics.count('numRecordsSend');
    if (options.perDestinationMetrics) metrics.count('destination.recordsSend', 1, formatTableName(table));
  }

  function countAnswer({ answer, isEmptyBranch, replayed }: Answered): void {
    metrics.count('requestsCompleted');
    if (replayed) metrics.count('requestsDeduplicated');
    if (answer.kind !== 'conditional') return;
    metrics.count(answer.predicateMatched ? 'predicatesMatched' : 'predicatesNotMatched');
    if (isEmptyBranch) metrics.count('emptyBranchesSelected');
  }
}

interface Sent {
  readonly asked: RowRequest;
  readonly sent: RowRequest;
  readonly table: TableName;
  readonly isGuarded: boolean;
}

const wasSent = (reply: RowReply): boolean => reply.kind === 'answered' || !reply.isUnsent;

/** The service answered, so something happened; what, is not known. */
const UNREADABLE: Status = { code: 'INTERNAL', message: 'the answer could not be read' };

function readAnswer({ kind }: RowRequest, bytes: Buffer): RowAnswer | undefined {
  try {
    return decodeRowAnswer(kind, bytes);
  } catch {
    return undefined;
  }
}

/** A call that its own invocation cancelled because time was up ended by a deadline, whatever the client calls it. */
function statusOf({ status }: Extract<RowReply, { kind: 'failed' }>, signal: AbortSignal): Status {
  const isOurDeadline = status.code === 'CANCELLED' && signal.aborted && abortReason(signal) instanceof DeadlineError;
  return isOurDeadline ? { code: 'DEADLINE_EXCEEDED', message: abortReason(signal).message } : status;
}
