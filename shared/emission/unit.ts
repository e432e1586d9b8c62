import type { LargeMessage, OutgoingMessage } from '../model/publishing.ts';
import type { EmissionError, RefusedMessage } from './failure.ts';

/** How the messages of one unit are made and what becomes of those that cannot be published. */
export interface UnitOptions {
  /** `projects/p/topics/t`. */
  readonly topic: string;
  /** Of every message of the unit, beside each message's own. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Records that are packed into one message as NDJSON; 1: each is a message of its own. */
  readonly maxRecordsPerMessage: number;
  /** A message above 9.5 MB with its attributes. `parts`: numbered, of one key, in order. */
  readonly oversizedMessage: 'fail' | 'parts' | 'quarantine';
  /** A message that the service refuses alone, for its own sake. */
  readonly failurePolicy: 'fail' | 'dead-letter';
  /**
   * Publishes a letter for a message that is to be quarantined or dead-lettered, and resolves when that is confirmed:
   * the message then counts as handed on. Until then nothing of its ordering key leaves. A rejection fails the unit.
   */
  readonly setApart: (refused: RefusedMessage, signal: AbortSignal) => Promise<void>;
}

/**
 * One unit's way to its topic, used by one reader, which awaits each `emit` before it goes on.
 *
 * @example
 * const unit = emission.open<ScanPosition>(options);
 * for await (const row of rows) {
 *   for (const message of form(row)) await unit.emit(message);   // undefined where nothing must be waited for
 *   unit.pass(positionAfter(row));
 * }
 * await unit.settled(session.signal);
 * commit(unit.takeCommittable());
 * unit.close();
 */
export interface UnitEmission<Position> {
  /** Aborts, with an {@link EmissionError}, when the unit has failed: its reader may stop. */
  readonly failed: AbortSignal;
  /** Why the unit hands nothing more on. */
  readonly failure: EmissionError | undefined;
  /** Nothing is on its way. */
  readonly isIdle: boolean;
  /** Everything handed on so far is confirmed. */
  readonly isConfirmed: boolean;
  /**
   * Hands one message, or one record of a packed message, over; waits while `maxOutstandingBytes` are on their way.
   * Undefined where there was nothing to wait for. Rejects with an {@link EmissionError} when the unit has failed.
   */
  emit(message: OutgoingMessage): Promise<void> | undefined;
  /**
   * As {@link emit}, of a message that is too large to be published as one; under `parts` no more of it is held than
   * `maxOutstandingBytes` have room for.
   */
  emitLarge(message: LargeMessage): Promise<void>;
  /** The unit has come so far: behind everything that was emitted until now. Not while an `emit` is waited for. */
  pass(position: Position): void;
  /** Sends what waits to be packed with more: at the end of a range. */
  flush(): void;
  /**
   * The reader cannot go on. What was emitted before goes on to its end, and counts; of kind `ended` it does not even
   * begin to leave.
   */
  fail(error: EmissionError): void;
  /**
   * The newest position that may be committed; undefined when none is newer than the one taken before. Flushes, so that
   * the next commit finds what was packed until now.
   */
  takeCommittable(): Position | undefined;
  /**
   * Resolves when no attempt of the unit is on its way: only then may it be read again from its position, or be given
   * back as finished. Flushes. Rejects with the reason of `signal` when that aborts before.
   */
  settled(signal: AbortSignal): Promise<void>;
  /** The unit is given back: call it once it is settled. */
  close(): void;
}
