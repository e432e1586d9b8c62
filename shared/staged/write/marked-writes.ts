import { backoffDelay } from '../../base/backoff.ts';
import { abortReason, sleep } from '../../base/clock.ts';
import { toError } from '../../base/errors.ts';
import { describeError } from '../../base/logging.ts';
import { Queue } from '../../base/queue.ts';
import { onAbort } from '../../base/abort.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { ResolvedRequestOptions } from '../../config/resolved.ts';
import type { RowCall, SendRowCall } from '../../model/row-call.ts';
import { formatTableName } from '../../model/table-name.ts';
import { joinRequests, partsOf, rowOf } from './coalesce.ts';
import type { Envelope } from '../envelope/envelope.ts';
import { type Verdict, verdictOf } from './verdict.ts';
import { isBeyondHorizon } from '../../markers/marker.ts';
import { Batch, type Effect, RowLane } from './row-lane.ts';
import { Turns } from './turns.ts';
import { outOfTime, type Outcome } from '../../markers/outcome.ts';

/** What it is told: the pipeline's `requestOptions`, where they are declared with defaults and bounds. */
export interface MarkedWritesOptions extends Pick<
  ResolvedRequestOptions,
  'maxInFlightRequests' | 'requestTimeoutMillis' | 'perDestinationMetrics'
> {
  /** Markers older than this may be collected; absent: they live forever. */
  readonly markerHorizonMillis?: number;
}

export interface MarkedWritesDependencies {
  readonly send: SendRowCall;
  readonly runtime: Runtime;
}

/** Attempts of one request within one invocation; after them the work is given back and sent again from outside. */
export const MAX_ATTEMPTS = 8;

/** Concurrent instances must not retry in step; a quarter either way keeps the mean. */
const RETRIES = { initialMillis: 25, maxMillis: 2000, jitter: 0.25 };

/**
 * Applies envelopes exactly once: every copy of one asks for its marker and writes it with the record's mutations in
 * one atomic step. For one instance, whatever invocation an envelope comes from. This is the only place that sends a
 * conditional write a second time.
 *
 * What must stay true: a row has at most one request in flight; every submitted envelope gets one result; an effect
 * for which two wait counts once; nothing is sent beyond the horizon of its marker.
 */
export class MarkedWrites {
  readonly #options: MarkedWritesOptions;
  readonly #with: MarkedWritesDependencies;
  readonly #turns: Turns;
  readonly #lanes = new Map<string, RowLane>();
  /** Rows that have not begun, in the order they came. */
  readonly #line = new Queue<RowLane>();
  /** Rows that have a request out or are about to; those that rest between attempts are not counted. */
  #atWork = 0;
  #inFlight = 0;

  constructor(options: MarkedWritesOptions, dependencies: MarkedWritesDependencies) {
    this.#options = options;
    this.#with = dependencies;
    this.#turns = new Turns(options.maxInFlightRequests);
    dependencies.runtime.metrics.observe('inFlightRequests', () => this.#inFlight);
  }

  /**
   * Resolves with what became of each envelope, in the order given; never rejects. Once `signal` aborts, what is not
   * decided is `unfinished` at once; what is on the wire by then may still be applied, which its marker will tell the
   * next attempt.
   */
  async submit(envelopes: readonly Envelope[], signal: AbortSignal): Promise<readonly Outcome[]> {
    if (signal.aborted) return envelopes.map(() => outOfTime(abortReason(signal), undefined));
    if (envelopes.length === 0) return [];
    const batch = new Batch();
    for (const envelope of envelopes) {
      if (this.#options.perDestinationMetrics) this.#countFor('destination.recordsSend', envelope);
      batch.wait(this.#laneOf(envelope).join(envelope));
    }
    this.#pump();
    const forget = onAbort(signal, () => {
      batch.giveUp((trouble) => outOfTime(abortReason(signal), trouble));
    });
    const results = await batch.decided;
    forget();
    return results;
  }

  #laneOf(envelope: Envelope): RowLane {
    const key = rowOf(envelope);
    const known = this.#lanes.get(key);
    if (known) return known;
    const lane = new RowLane(key);
    this.#lanes.set(key, lane);
    this.#line.push(lane);
    return lane;
  }

  /**
   * Starts rows as long as there are places for them. Those behind are only remembered: thousands of functions that
   * wait would cost the collector more than their requests cost.
   */
  #pump(): void {
    while (this.#atWork < this.#options.maxInFlightRequests) {
      const lane = this.#line.take();
      if (!lane) return;
      this.#start(lane);
    }
  }

  /** Nobody waits for this promise, so nothing may reject: every path settles what waits. */
  #start(lane: RowLane): void {
    this.#atWork += 1;
    this.#writeLane(lane).catch((error: unknown) => {
      this.#with.runtime.logger.log('ERROR', 'a row was left as it is', { error: describeError(error) });
    });
  }

  /** Writes what waits for a row, one request after the other, until nothing does. */
  async #writeLane(lane: RowLane): Promise<void> {
    try {
      while (lane.hasWaiting) await this.#write(lane);
    } catch (error) {
      this.#with.runtime.logger.log('ERROR', 'conditional writes failed', { error: describeError(error) });
      const message = `a conditional write failed: ${toError(error).message}`;
      this.#settle(lane, lane.undecided(), { kind: 'unfinished', reason: 'unexpected', message });
    } finally {
      this.#lanes.delete(lane.key);
      this.#atWork -= 1;
      this.#pump();
    }
  }

  /**
   * One group from its turn to its results.
   *
   * @param part what it is; absent, it is chosen from what waits when its turn has come, not before.
   */
  async #write(lane: RowLane, part?: readonly Effect[]): Promise<void> {
    let group = part;
    for (let attempt = 1; ; attempt += 1) {
      await this.#turns.take();
      let verdict: Verdict;
      try {
        group = this.#sendable(lane, group ?? lane.take());
        if (!isSome(group)) return;
        if (attempt > 1) this.#with.runtime.metrics.count('writesRetried', group.length);
        verdict = await this.#send(group);
      } finally {
        this.#turns.giveBack();
      }
      switch (verdict.kind) {
        case 'take-apart':
          for (const smaller of partsOf(group)) await this.#write(lane, smaller);
          return;
        case 'retry':
          if (attempt === MAX_ATTEMPTS) {
            this.#settle(lane, group, verdict.trouble);
            return;
          }
          for (const effect of group) effect.trouble = verdict.trouble;
          await this.#rest(attempt);
          break;
        default:
          this.#settle(lane, group, verdict);
          return;
      }
    }
  }

  /** A row that waits for its next attempt holds up no other. */
  async #rest(attempt: number): Promise<void> {
    const { clock, random } = this.#with.runtime;
    this.#atWork -= 1;
    this.#pump();
    await sleep(clock, backoffDelay(RETRIES, attempt, random));
    this.#atWork += 1;
  }

  /** Those of a group that are still wanted and may still be sent. */
  #sendable(lane: RowLane, group: readonly Effect[]): readonly Effect[] {
    const now = this.#with.runtime.clock.now();
    return group.filter((effect) => {
      if (!effect.isWanted) {
        lane.done(effect);
        return false;
      }
      const isBeyond = isBeyondHorizon(effect.envelope.markerTimestampMicros, this.#options.markerHorizonMillis, now);
      if (isBeyond) this.#settle(lane, [effect], { kind: 'beyond-horizon' });
      return !isBeyond;
    });
  }

  async #send(group: readonly [Effect, ...Effect[]]): Promise<Verdict> {
    const { send, runtime } = this.#with;
    const { clock, metrics } = runtime;
    const [{ envelope: first }] = group;
    const { table, appProfileId } = first;
    const call: RowCall = {
      method: 'CheckAndMutateRow',
      table,
      appProfileId,
      request: joinRequests(group.map(({ envelope }) => envelope)),
      timeoutMillis: this.#options.requestTimeoutMillis,
      signals: [],
    };
    if (group.length > 1) metrics.count('coalescedWrites', group.length);
    const startedAt = clock.now();
    this.#inFlight += 1;
    try {
      return verdictOf(await send(call), group.length, table);
    } catch (error) {
      const message = `CheckAndMutateRow on ${formatTableName(table)} could not be sent: ${toError(error).message}`;
      return { kind: 'unfinished', reason: 'client', message };
    } finally {
      this.#inFlight -= 1;
      metrics.record('rowRequestLatency', clock.now() - startedAt);
    }
  }

  #settle(lane: RowLane, group: readonly Effect[], result: Outcome): void {
    for (const effect of group) {
      lane.done(effect);
      const told = effect.settle(result);
      this.#count(effect.envelope, result, told);
    }
  }

  #count(envelope: Envelope, result: Outcome, told: number): void {
    const { metrics } = this.#with.runtime;
    switch (result.kind) {
      case 'applied':
      case 'deduplicated': {
        // Of those who waited for one effect all but the first are told that it was there.
        const repeats = Math.max(0, told - 1);
        metrics.count('requestsCompleted', 1 + repeats);
        if (result.kind === 'applied') metrics.count('recordsApplied');
        const deduplicated = repeats + (result.kind === 'deduplicated' ? 1 : 0);
        if (deduplicated > 0) metrics.count('requestsDeduplicated', deduplicated);
        return;
      }
      case 'rejected':
      case 'unfinished':
        if (result.status) metrics.count('errorClass.errors', 1, result.status.code);
        if (this.#options.perDestinationMetrics) this.#countFor('destination.sendErrors', envelope);
        return;
      case 'beyond-horizon':
        metrics.count('envelopesBeyondHorizon');
        return;
      default:
        result satisfies never;
    }
  }

  #countFor(metric: 'destination.recordsSend' | 'destination.sendErrors', { table }: Envelope): void {
    this.#with.runtime.metrics.count(metric, 1, formatTableName(table));
  }
}

const isSome = <Item>(items: readonly Item[]): items is readonly [Item, ...Item[]] => items.length > 0;
