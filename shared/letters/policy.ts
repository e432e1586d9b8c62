import { nextTurn, RECORDS_PER_TURN } from '../base/clock.ts';
import { DeadlineError, RedeliverError, toError } from '../base/errors.ts';
import type { Runtime } from '../base/runtime.ts';
import type { Publisher } from '../model/publishing.ts';
import { STATUSES, statusName } from '../model/status.ts';
import { formatTableName } from '../model/table-name.ts';
import { Semaphore } from '../base/semaphore.ts';
import { encodeEntry } from '../mapping/rows/entry-wire.ts';
import type { ResolvedDeadLetter } from '../config/resolved.ts';
import { digestOf, MAX_REMEMBERED, MessageMemory } from './message-memory.ts';
import { deadLetterOf, type DeadLetterOptions } from './write.ts';
import type { FailedRecord } from './failed-record.ts';

/**
 * A policy for bad records. `handle` takes all failed records of one message, after everything else in
 * it has settled. When it resolves they are durably dealt with and the message may be acknowledged; when it rejects,
 * with a {@link RedeliverError}, the message is delivered again and nothing is lost.
 */
export interface FailurePolicy {
  /** Whether a failed record may leave the stream: then, and only then, runs of rejections are bounded. */
  readonly mayDrop: boolean;
  handle(failed: readonly FailedRecord[], signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/**
 * The default: a record that is wrong blocks its message, visibly, until somebody fixes it.
 *
 * @param option what the configuration calls the choice.
 */
export function failPolicy(option: 'failurePolicy' | 'onRejected' = 'failurePolicy'): FailurePolicy {
  return {
    mayDrop: false,
    handle(failed) {
      const [first] = failed;
      if (!first) return Promise.resolve();
      return Promise.reject(
        new RedeliverError(
          'failure-policy',
          `${failed.length} ${failed.length === 1 ? 'record' : 'records'} for ${tableOf(first)} cannot be written: ${first.summary}. ${option} is fail: fix the record's source, or choose dead-letter`,
        ),
      );
    },
    close: () => Promise.resolve(),
  };
}

export function logAndDropPolicy({
  clock,
  logger,
  metrics,
}: Pick<Runtime, 'clock' | 'logger' | 'metrics'>): FailurePolicy {
  return {
    mayDrop: true,
    async handle(failed) {
      for (const [at, one] of failed.entries()) {
        if (at > 0 && at % RECORDS_PER_TURN === 0) await nextTurn(clock);
        const { record, summary, reason } = one;
        metrics.count('recordsDropped');
        logger.log('WARNING', `a record was dropped: ${summary}`, {
          destination: tableOf(one),
          reason,
          messageId: record.message.messageId,
          recordIndex: record.index,
          ...(record.data && { bytes: record.data.length }),
        });
      }
    },
    close: () => Promise.resolve(),
  };
}

/** What the policy is told: the pipeline's `deadLetter`, where it is declared with defaults and bounds. */
export type DeadLetterPolicyOptions = DeadLetterOptions &
  Pick<ResolvedDeadLetter, 'topic' | 'maxOutstandingMessages' | 'flushTimeoutMillis'>;

export function deadLetterPolicy(
  topic: Publisher,
  options: DeadLetterPolicyOptions,
  { clock, metrics }: Pick<Runtime, 'clock' | 'metrics'>,
): FailurePolicy {
  const outstanding = new Semaphore(options.maxOutstandingMessages);
  /** Letters that are confirmed, of messages that are redelivered because others of theirs are not. */
  const confirmed = new MessageMemory<true>(MAX_REMEMBERED);
  let published = 0;
  let lastMillis = 0;
  let longestMillis = 0;
  metrics.observe('outstandingDeadLetters', () => published);
  metrics.observe('deadLetterFlushMillis', () => lastMillis);
  metrics.observe('longestDeadLetterFlushMillis', () => longestMillis);

  /** `told` is called once, when the letter is confirmed or with why it is not. Not a promise: there may be very many. */
  const publishOne = (
    failed: FailedRecord,
    release: () => void,
    signal: AbortSignal,
    told: (refusal?: { readonly error: unknown }) => void,
  ): void => {
    published += 1;
    const end = (): void => {
      published -= 1;
      release();
    };
    topic.publish(deadLetterOf(failed, options, clock.now()), signal).then(
      () => {
        metrics.count('deadLettersPublished');
        end();
        told();
      },
      (error: unknown) => {
        end();
        told({ error });
      },
    );
  };

  const isFiled = (one: FailedRecord): boolean => {
    const { message, index } = one.record;
    return (
      confirmed.knows(message.messageId) && confirmed.recall(message.messageId, index, contentDigest(one)) === true
    );
  };

  /**
   * Publishes the letters one after the other, as many at once as there is room for: a message waits for room once, not
   * once for each letter. Resolves, when all that were handed over have ended, with why each of the others was not confirmed.
   * A letter that an earlier delivery filed is not filed again.
   */
  const publishAll = async (failed: readonly FailedRecord[], signal: AbortSignal): Promise<unknown[]> => {
    const refusals: unknown[] = [];
    const filed: FailedRecord[] = [];
    const { promise: allTold, resolve } = Promise.withResolvers<undefined>();
    /** Letters that nothing was told of yet, and this loop itself. */
    let open = 1;
    const close = (): void => {
      open -= 1;
      if (open === 0) resolve(undefined);
    };
    for (const [at, one] of failed.entries()) {
      if (at > 0 && at % RECORDS_PER_TURN === 0) await nextTurn(clock);
      if (isFiled(one)) continue;
      try {
        // Always by a promise, so that the letters of several messages take turns.
        const release = await outstanding.acquire(signal);
        open += 1;
        publishOne(one, release, signal, (refusal) => {
          if (refusal) refusals.push(refusal.error);
          else filed.push(one);
          close();
        });
      } catch (error) {
        refusals.push(error);
      }
    }
    close();
    await allTold;
    if (refusals.length === 0) {
      for (const { record } of failed) confirmed.forget(record.message.messageId);
    }
    for (const [at, one] of (refusals.length > 0 ? filed : []).entries()) {
      if (at > 0 && at % RECORDS_PER_TURN === 0) await nextTurn(clock);
      confirmed.remember(one.record.message.messageId, one.record.index, contentDigest(one), true);
    }
    return refusals;
  };

  return {
    mayDrop: true,
    async handle(failed, signal) {
      if (failed.length === 0) return;
      const budget = new AbortController();
      const cancel = clock.after(options.flushTimeoutMillis, () => {
        budget.abort(new DeadlineError(`flushTimeout of ${options.flushTimeoutMillis} ms was used up`));
      });
      const startedAt = clock.now();
      const bounded = AbortSignal.any([signal, budget.signal]);
      const refusals = await publishAll(failed, bounded);
      cancel();
      lastMillis = clock.now() - startedAt;
      longestMillis = Math.max(longestMillis, lastMillis);
      if (refusals.length === 0) return;
      // One that is refused keeps the message, however many only passed.
      const cause = toError(refusals.find((refusal) => !isPassing(refusal)) ?? refusals[0]);
      throw new RedeliverError(
        'dead-letter-unconfirmed',
        `${refusals.length} of ${failed.length} dead letters were not confirmed by ${options.topic}: ${cause.message}. The message is redelivered; letters that were confirmed may be published again by another instance`,
        { cause },
      );
    },
    close: () => topic.close(),
  };
}

/**
 * Whether a policy rejected only because its topic is unavailable at the moment: not reached, not in time, or over a quota.
 * False where a letter is refused until somebody acts (no topic, no permission, a letter that is wrong).
 */
export const isTopicOutage = (error: unknown): boolean =>
  error instanceof RedeliverError && error.reason === 'dead-letter-unconfirmed' && isPassing(error.cause);

function isPassing(refusal: unknown): boolean {
  if (refusal instanceof DeadlineError) return true;
  if (!(refusal instanceof Error) || !('code' in refusal) || typeof refusal.code !== 'number') return false;
  return STATUSES[statusName(refusal.code)].passes !== 'no';
}

const contentDigest = (failed: FailedRecord): string => {
  const { record, entry, reason } = failed;
  return digestOf(record.data ?? (entry ? encodeEntry(entry) : NO_BYTES), `${reason} ${tableOf(failed)}`);
};

const NO_BYTES = Buffer.alloc(0);

const tableOf = ({ destination }: FailedRecord): string =>
  destination ? formatTableName(destination) : 'no table yet';
