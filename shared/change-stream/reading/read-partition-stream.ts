import { backoffDelay, type BackoffSchedule } from '../../base/backoff.ts';
import { onAbort } from '../../base/abort.ts';
import { sleep } from '../../base/clock.ts';
import type { Runtime } from '../../base/runtime.ts';
import { normaliseRange, type RowRange } from '../../model/row-range.ts';
import type { Position } from '../ledger/partition.ts';
import { Attempt, type AttemptTools } from './attempt.ts';
import { type Ending, isOurs, passes, problemOf } from './ending.ts';
import { type OpenPartition, type PartitionStream, type PartitionStreamOptions, type StreamEvent } from './ports.ts';

export const REOPENING: BackoffSchedule = { initialMillis: 10, maxMillis: 60_000, jitter: 0.5 };

/** So many failures in a row, without an event between them, end the stream. */
export const MAX_FAILURES = 10;

/** The service may ask for longer, but a partition that waits for so long is better given back. */
const MAX_ASKED_MILLIS = 60_000;

/** What streams run by. */
export interface StreamReader extends Pick<AttemptTools, 'readChangeStream' | 'largeChanges'> {
  readonly runtime: Pick<Runtime, 'clock' | 'random' | 'metrics'>;
}

/** Opens nothing yet: the first `next` does. */
export const createOpenPartition =
  (reader: StreamReader): OpenPartition =>
  (range, position, options, signal) =>
    new RetriedStream(normaliseRange(range), position, options, reader, signal);

/**
 * This is the one layer that retries a stream. What passes by itself opens the partition anew at the last token that was
 * told, after a jittered backoff; a change that was half told is told anew from its start. Each event lets the failures
 * count anew.
 */
class RetriedStream implements PartitionStream {
  readonly #range: RowRange;
  readonly #options: PartitionStreamOptions;
  readonly #reader: StreamReader;
  readonly #tools: AttemptTools;
  /** Follows the caller's signal, and `close`. */
  readonly #stop = new AbortController();
  #forgetSignal: (() => void) | undefined;
  #position: Position;
  #attempt: Attempt | undefined;
  #failures = 0;
  #isOver = false;

  constructor(
    range: RowRange,
    position: Position,
    options: PartitionStreamOptions,
    reader: StreamReader,
    signal: AbortSignal,
  ) {
    this.#range = range;
    this.#position = position;
    this.#options = options;
    this.#reader = reader;
    const { readChangeStream, largeChanges, runtime } = reader;
    this.#tools = { readChangeStream, largeChanges, clock: runtime.clock };
    if (signal.aborted) {
      this.#stop.abort(signal.reason);
    } else {
      this.#forgetSignal = onAbort(signal, () => {
        this.#stop.abort(signal.reason);
      });
    }
  }

  async next(): Promise<StreamEvent | undefined> {
    // An attempt that our cancel ended is asked once more: it may have failed before.
    while (!this.#isOver && (this.#attempt || !this.#stopped.aborted)) {
      this.#attempt ??= this.#open();
      let event: StreamEvent | undefined;
      try {
        event = await this.#attempt.next();
      } catch (error) {
        if (!this.#stopped.aborted) throw error;
      }
      if (event && !this.#hasClosed()) return event.kind === 'close' ? await this.#end(event) : this.#advance(event);
      await this.#recover();
    }
    return this.#end(undefined);
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('the stream was closed'));
    await this.#end(undefined);
  }

  get #stopped(): AbortSignal {
    return this.#stop.signal;
  }

  /** Asked anew after every wait: `close` may have come meanwhile. */
  #hasClosed(): boolean {
    return this.#isOver;
  }

  #open(): Attempt {
    const { table, appProfileId, endTime, maxMutationBytes } = this.#options;
    const call = {
      table,
      appProfileId,
      range: this.#range,
      position: this.#position,
      ...(endTime !== undefined && { endTime }),
      signals: [this.#stopped],
    };
    return new Attempt(call, maxMutationBytes, this.#tools, this.#stopped);
  }

  /** From here on one token is the position, whatever it was before. */
  #advance(event: Exclude<StreamEvent, { readonly kind: 'close' }>): StreamEvent {
    const { token, lowWatermark } = event.kind === 'change' ? event.change : event;
    this.#failures = 0;
    this.#position = { tokens: [{ range: this.#range, token }], lowWatermark };
    return event;
  }

  async #end(event: StreamEvent | undefined): Promise<StreamEvent | undefined> {
    this.#isOver = true;
    this.#forgetSignal?.();
    this.#forgetSignal = undefined;
    await this.#closeAttempt();
    return event;
  }

  /** What the ended attempt means: an error, the end of a stream that was stopped, or another attempt after a while. */
  async #recover(): Promise<void> {
    const ending = this.#attempt?.ending;
    await this.#closeAttempt();
    if (!ending || this.#isOver) return;
    this.#failures += 1;
    const isStopped = this.#stopped.aborted;
    if (isStopped ? isOurs(ending) : this.#isWorthAnother(ending)) {
      if (isStopped) return;
      if (ending.kind === 'silent') this.#reader.runtime.metrics.count('watchdogReopens');
      await this.#pause(ending);
      return;
    }
    await this.#end(undefined);
    throw problemOf(ending, { table: this.#options.table, range: this.#range });
  }

  #isWorthAnother(ending: Ending): boolean {
    return passes(ending) && this.#failures < MAX_FAILURES;
  }

  async #pause(ending: Ending): Promise<void> {
    const { clock, random } = this.#reader.runtime;
    const asked = ending.kind === 'failed' ? (ending.retryAfterMillis ?? 0) : 0;
    const delay = Math.max(backoffDelay(REOPENING, this.#failures, random), Math.min(asked, MAX_ASKED_MILLIS));
    try {
      await sleep(clock, delay, this.#stopped);
    } catch (error) {
      if (!this.#stopped.aborted) throw error;
    }
  }

  async #closeAttempt(): Promise<void> {
    const attempt = this.#attempt;
    this.#attempt = undefined;
    await attempt?.close();
  }
}
