import { backoffDelay } from '../../base/backoff.ts';
import { abortReason, sleep } from '../../base/clock.ts';
import { toError } from '../../base/errors.ts';
import { describeError } from '../../base/logging.ts';
import { Queue } from '../../base/queue.ts';
import { onAbort } from '../../base/abort.ts';
import type { ResolvedRequestOptions } from '../../config/resolved.ts';
import { isBeyondHorizon } from '../../markers/marker.ts';
import type { MarkerReply } from '../../markers/ports.ts';
import { outOfTime, type Outcome } from '../../markers/outcome.ts';
import type { Envelope } from '../envelope/envelope.ts';
import { Attempts, type AttemptsDependencies, type AttemptsOptions } from './attempts.ts';
import { partsOf, rowOf } from './coalesce.ts';
import { Batch, type Effect, RowLane } from './row-lane.ts';
import { Turns } from './turns.ts';
import { isWorthAnother, unreadMarkers, type Verdict } from './verdict.ts';
import type { Submission } from './write-envelopes.ts';
import { WriteCounts } from './write-counts.ts';

/** What it is told: the pipeline's options, where they are declared with defaults and bounds. */
export interface MarkedWritesOptions
  extends AttemptsOptions, Pick<ResolvedRequestOptions, 'maxInFlightRequests' | 'perDestinationMetrics'> {
  /** Markers older than this may be collected; absent: they live forever. */
  readonly markerHorizonMillis?: number;
}

/** Attempts of one request within one invocation; after them the work is given back and sent again from outside. */
export const MAX_ATTEMPTS = 8;

/** Concurrent instances must not retry in step; a quarter either way keeps the mean. */
const RETRIES = { initialMillis: 25, maxMillis: 2000, jitter: 0.25 };

/**
 * Applies envelopes exactly once: every copy of one asks for its marker and writes it with the record's mutations in
 * one atomic step. For one instance, whatever invocation an envelope comes from. This is the only place that sends a
 * conditional write a second time. Where some of a group are there already, their markers are read once and the others
 * go on together: a marker that is there stays there for as long as its envelope may be sent.
 *
 * What must stay true: a row has at most one request in flight; every submitted envelope gets one result; an effect
 * for which two wait counts once; nothing is sent beyond the horizon of its marker.
 */
export class MarkedWrites {
  readonly #options: MarkedWritesOptions;
  readonly #with: AttemptsDependencies;
  readonly #attempts: Attempts;
  readonly #counts: WriteCounts;
  readonly #turns: Turns;
  readonly #lanes = new Map<string, RowLane>();
  /** Rows that have not begun, in the order they came. */
  readonly #line = new Queue<RowLane>();
  /** Rows that have a request out or are about to; those that rest between attempts are not counted. */
  #atWork = 0;

  constructor(options: MarkedWritesOptions, dependencies: AttemptsDependencies) {
    this.#options = options;
    this.#with = dependencies;
    this.#attempts = new Attempts(options, dependencies);
    this.#counts = new WriteCounts(dependencies.runtime.metrics, options.perDestinationMetrics);
    this.#turns = new Turns(options.maxInFlightRequests);
  }

  /**
   * Resolves with what became of each envelope, in the order given; never rejects. Once `signal` aborts, what is not
   * decided is `unfinished` at once; what is on the wire by then may still be applied, which its marker will tell the
   * next attempt.
   */
  async submit(
    envelopes: readonly Envelope[],
    signal: AbortSignal,
    { areSuspects = false }: Submission = {},
  ): Promise<readonly Outcome[]> {
    if (signal.aborted) return envelopes.map(() => outOfTime(abortReason(signal), undefined));
    if (envelopes.length === 0) return [];
    const batch = new Batch();
    for (const envelope of envelopes) {
      this.#counts.submitted(envelope);
      batch.wait(this.#laneOf(envelope).join(envelope, areSuspects));
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
      while (lane.hasWaiting) {
        const divided = await this.#write(lane);
        if (divided) await this.#takeApart(lane, divided);
      }
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
   * One group from its turn to its results, unless it has to be divided.
   *
   * @param part what it is; absent, it is chosen from what waits when its turn has come, not before.
   */
  async #write(lane: RowLane, part?: readonly Effect[]): Promise<Divided | undefined> {
    let group = part;
    for (let attempt = 1; ; attempt += 1) {
      await this.#turns.take();
      let verdict: Verdict;
      try {
        group = this.#sendable(lane, group ?? lane.take(this.#attempts.maxEnvelopes()));
        if (!isSome(group)) return undefined;
        if (attempt > 1) this.#with.runtime.metrics.count('writesRetried', group.length);
        verdict = await this.#attempts.write(group);
      } finally {
        this.#turns.giveBack();
      }
      switch (verdict.kind) {
        case 'some-are-there':
        case 'some-are-refused':
          return { group, cause: verdict.kind };
        case 'retry':
          if (attempt === MAX_ATTEMPTS) {
            this.#settle(lane, group, verdict.trouble);
            return undefined;
          }
          for (const effect of group) effect.trouble = verdict.trouble;
          await this.#rest(attempt);
          if (group.length > this.#attempts.maxEnvelopes()) return { group, cause: 'too-many' };
          break;
        default:
          this.#settle(lane, group, verdict);
          return undefined;
      }
    }
  }

  /**
   * A group that could not be answered as a whole, to its results. What is there is found by one look at the markers of
   * everything that is open, what is refused by halves; either way the rest goes on in order.
   */
  async #takeApart(lane: RowLane, { group, cause }: Divided): Promise<void> {
    let parts: readonly (readonly Effect[])[] = [group];
    let why: Divided['cause'] | undefined = cause;
    for (;;) {
      const [asked = [], ...behind] = parts;
      if (why !== undefined) {
        const absent = why === 'some-are-there' ? await this.#look(lane, parts.flat()) : undefined;
        const left = absent ? asked.filter((effect) => absent.has(effect)) : asked;
        // A look that finds nothing, against what the write has found, leads no further.
        const first = left.length === asked.length ? partsOf(asked) : [left];
        parts = [...first, ...(absent ? behind.map((part) => part.filter((effect) => absent.has(effect))) : behind)];
      }
      parts = parts.filter(isSome);
      const [next, ...others] = parts;
      if (!next) return;
      if (next.length > this.#attempts.maxEnvelopes()) {
        why = 'too-many';
        continue;
      }
      const divided = await this.#write(lane, next);
      parts = divided ? [divided.group, ...others] : others;
      why = divided?.cause;
    }
  }

  /**
   * Settles those of a group whose markers are there, and gives the others. Undefined where the service would not tell,
   * though it was asked rightly.
   */
  async #look(lane: RowLane, group: readonly Effect[]): Promise<ReadonlySet<Effect> | undefined> {
    let asked = group;
    for (let attempt = 1; ; attempt += 1) {
      await this.#turns.take();
      let reply: MarkerReply;
      try {
        asked = this.#sendable(lane, asked);
        if (!isSome(asked)) return NONE;
        reply = await this.#attempts.look(asked);
      } finally {
        this.#turns.giveBack();
      }
      if (reply.kind === 'answered') {
        const { present } = reply;
        const isThere = ({ envelope }: Effect): boolean => present.has(envelope.identity);
        this.#settle(lane, asked.filter(isThere), { kind: 'deduplicated' });
        return new Set(asked.filter((effect) => !isThere(effect)));
      }
      if (!isWorthAnother(reply.status)) return undefined;
      const trouble = unreadMarkers(reply.status, asked[0].envelope.table);
      if (attempt === MAX_ATTEMPTS) {
        this.#settle(lane, asked, trouble);
        return NONE;
      }
      for (const effect of asked) effect.trouble = trouble;
      await this.#rest(attempt);
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

  #settle(lane: RowLane, group: readonly Effect[], result: Outcome): void {
    for (const effect of group) {
      lane.done(effect);
      const told = effect.settle(result);
      this.#counts.decided(effect.envelope, result, told);
    }
  }
}

/** A group that goes on in parts. */
interface Divided {
  readonly group: readonly Effect[];
  readonly cause: 'some-are-there' | 'some-are-refused' | 'too-many';
}

const NONE: ReadonlySet<Effect> = new Set();

const isSome = <Item>(items: readonly Item[]): items is readonly [Item, ...Item[]] => items.length > 0;
