import { onAbort } from '../base/abort.ts';
import { abortReason } from '../base/clock.ts';
import { toError } from '../base/errors.ts';
import type { Runtime } from '../base/runtime.ts';
import { EmissionError } from '../emission/failure.ts';
import type { Change } from '../model/change.ts';
import type { OutgoingMessage } from '../model/publishing.ts';
import { formatRowKey } from '../model/row-range.ts';
import { type Status, STATUSES } from '../model/status.ts';
import type { ChangeFilter, LeftOut } from './change-filter.ts';
import type { HeldPartition, Position } from './ledger/partition.ts';
import { type PartitionStream, type StreamEvent, StreamFailedError } from './reading/ports.ts';
import type { OpenUnit, StreamWork } from './stream-work.ts';

/** How far a partition has come: everything before is confirmed by the topic. */
export interface PartitionPlace {
  readonly position: Position;
  /** Changes that were read of it in this reading; the same number as before: only heartbeats moved it. */
  readonly changes: number;
}

/** The record with which the service ends a partition. */
export type PartitionClose = Extract<StreamEvent, { readonly kind: 'close' }>;

/** How the reading of a partition ended. Nothing of it is on its way by then. */
export type PartitionEnding =
  /** The service ended it, and everything before is confirmed: its successors may begin, or its end time is reached. */
  | { readonly kind: 'closed'; readonly close: PartitionClose }
  /** It was told to stop, or the slot's time is used up; it goes on from its place. */
  | { readonly kind: 'stopped' }
  /** It goes on from its place after a while. */
  | {
      readonly kind: 'failed';
      /** What was refused and what to do. */
      readonly problem: string;
      /** It would be so with every partition: table, rights, profile or topic are wrong. */
      readonly isOfAll: boolean;
    };

/** A partition that is being read. */
export interface PartitionReader {
  /** Always resolves, when no attempt of its messages is on its way and its stream has ended; by `end` in any case. */
  readonly ended: Promise<PartitionEnding>;
  /** Where it may be said to be by now; undefined where that is what was said last. */
  takePlace(): PartitionPlace | undefined;
}

export interface PartitionReading {
  readonly held: HeldPartition;
  readonly work: StreamWork;
  readonly openUnit: OpenUnit;
  readonly runtime: Runtime;
  /** Reading ends; what is on its way goes on to its end. */
  readonly stop: AbortSignal;
  /** Everything ends: the slot is another's, or its time is used up. */
  readonly end: AbortSignal;
}

/** Behind a change or a heartbeat. */
interface Passed {
  readonly token: string;
  readonly lowWatermark: bigint;
  readonly changes: number;
  /** Of the last change before that has a message. */
  readonly commitTime: bigint;
}

/**
 * Reads a partition and hands its changes on: events of the stream → messages in order → the position behind them, which
 * may be committed once everything before it is confirmed. Changes of which no message is made and heartbeats move the
 * position as well, in their turn. The stream is asked for the next event only when there is room for messages.
 */
export function readPartition({ held, work, openUnit, runtime, stop, end }: PartitionReading): PartitionReader {
  const { clock, metrics } = runtime;
  const unit = openUnit<Passed>(work.unit, ({ commitTime }) => {
    metrics.record('commitToPublishLatency', Math.max(0, clock.now() - Number(commitTime / NANOS_PER_MILLI)));
  });
  const signal = AbortSignal.any([stop, end, unit.failed]);
  let { restarted } = held;
  let changes = 0;
  let commitTime = 0n;
  /** Whoever waits for room must not wait beyond the end. */
  const forget = onAbort(end, () => {
    unit.fail(new EmissionError('ended', abortReason(end).message));
  });
  return {
    ended: readAll(),
    takePlace() {
      const passed = unit.takeCommittable();
      if (!passed) return undefined;
      const { token, lowWatermark } = passed;
      // Of a merged partition the tokens of its parents served to begin with; from here on it has its own.
      return { position: { tokens: [{ range: held.range, token }], lowWatermark }, changes: passed.changes };
    },
  };

  async function readAll(): Promise<PartitionEnding> {
    let close: PartitionClose | undefined;
    let failure: Error | undefined;
    try {
      const stream = work.open(held.range, held.position, signal);
      try {
        close = await follow(stream);
      } finally {
        await stream.close();
      }
    } catch (error) {
      const thrown = toError(error);
      if (!signal.aborted || thrown !== abortReason(signal)) failure = thrown;
    }
    const ending = await settled(close, failure);
    forget();
    unit.close();
    return ending;
  }

  /** Until the service ends the partition, or the stream is stopped. */
  async function follow(stream: PartitionStream): Promise<PartitionClose | undefined> {
    for (;;) {
      const event = await stream.next();
      switch (event?.kind) {
        case 'change': {
          const waiting = handOn(event.change);
          if (waiting) await waiting;
          break;
        }
        case 'heartbeat':
          metrics.count('changeStreamHeartbeatsRead');
          pass(event.token, event.lowWatermark);
          break;
        case 'close':
          metrics.count('changeStreamCloseStreamsRead');
          return event;
        case undefined:
          return undefined;
        default:
          event satisfies never;
      }
    }
  }

  /** Undefined where there was nothing to wait for, as nearly always. */
  function handOn(change: Change): Promise<void> | undefined {
    const { type } = change;
    metrics.count('changeStreamMutationsRead');
    metrics.count(type === 'USER' ? 'changeStreamUserMutationsRead' : 'changeStreamGarbageCollectionMutationsRead');
    const left = work.filter ? leftOf(change, work.filter) : change;
    const messages = typeof left === 'string' ? NO_MESSAGES : messagesOf(left);
    const [first] = messages;
    changes += 1;
    if (!first) {
      passChange(change, left);
      metrics.count('recordsSkipped');
      return undefined;
    }
    ({ commitTime } = change);
    if (messages.length > 1) return emitAll(messages, change, left);
    const waiting = unit.emit(first);
    if (waiting)
      return waiting.then(() => {
        passChange(change, left);
      });
    passChange(change, left);
    return undefined;
  }

  function leftOf(change: Change, filter: ChangeFilter): Change | LeftOut {
    try {
      return filter(change);
    } catch (error) {
      const problem = toError(error).message;
      throw new Error(`the change of row ${formatRowKey(change.rowKey)} cannot be filtered: ${problem}`, {
        cause: error,
      });
    }
  }

  function messagesOf(change: Change): readonly OutgoingMessage[] {
    if (restarted && change.lowWatermark > restarted.until) restarted = undefined;
    try {
      return work.messagesOf(change, restarted);
    } catch (error) {
      const problem = toError(error).message;
      throw new Error(`the change of row ${formatRowKey(change.rowKey)} has no form: ${problem}`, { cause: error });
    }
  }

  async function emitAll(messages: readonly OutgoingMessage[], change: Change, left: Change | LeftOut): Promise<void> {
    for (const message of messages) {
      const waiting = unit.emit(message);
      if (waiting) await waiting;
    }
    passChange(change, left);
  }

  /** What was left out counts once the position is behind it: a reading that ends before reads it again. */
  function passChange(change: Change, left: Change | LeftOut): void {
    pass(change.token, change.lowWatermark);
    if (left === change || left === 'unwanted') return;
    const kept = left === 'without-change' ? 0 : left.entries.length;
    metrics.count('changeStreamMutationEntriesFiltered', change.entries.length - kept);
    if (left === 'without-change') metrics.count('changeStreamRecordsSkippedWithoutChange');
  }

  function pass(token: string, lowWatermark: bigint): void {
    unit.pass({ token, lowWatermark, changes, commitTime });
  }

  /** Waits until nothing is on its way: only then may anybody read the rest again, or the successors. */
  async function settled(close: PartitionClose | undefined, failure: Error | undefined): Promise<PartitionEnding> {
    if (failure && !signal.aborted) unit.fail(new EmissionError('source', failure.message, { cause: failure }));
    try {
      await unit.settled(end);
    } catch {
      return { kind: 'stopped' };
    }
    // A message that failed meanwhile keeps the partition from its end: it is read again from its place.
    const broken = unit.failure;
    if (broken) return broken.kind === 'ended' ? { kind: 'stopped' } : failed(broken);
    if (close) return { kind: 'closed', close };
    if (failure) return failed(failure);
    return { kind: 'stopped' };
  }
}

const NO_MESSAGES: readonly OutgoingMessage[] = Object.freeze([]);
const NANOS_PER_MILLI = 1_000_000n;

function failed(failure: Error): PartitionEnding {
  const source = failure instanceof EmissionError && failure.kind === 'source' ? failure.cause : failure;
  const isOfAll =
    source instanceof StreamFailedError
      ? isOfTable(source.status)
      : failure instanceof EmissionError && failure.kind === 'setup';
  return { kind: 'failed', problem: failure.message, isOfAll };
}

/** The stream is off, the table is gone, a right is missing: every partition is refused until somebody acts. */
const isOfTable = ({ code }: Status): boolean => STATUSES[code].blamesSetup || code === 'FAILED_PRECONDITION';
