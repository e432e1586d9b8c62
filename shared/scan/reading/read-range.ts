import { backoffDelay, type BackoffSchedule } from '../../base/backoff.ts';
import { abortReason, sleep } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import {
  containsKey,
  isEmptyRange,
  normaliseRange,
  openBound,
  type RowRange,
  truncateAfter,
} from '../../model/row-range.ts';
import type { Status } from '../../model/status.ts';
import { ReadFailedError } from '../ports.ts';
import { Attempt, type Ending, type RangeRead, type Reader } from './attempt.ts';
import type { ReadEvent } from './read-event.ts';

export const REOPENING: BackoffSchedule = { initialMillis: 100, maxMillis: 60_000, jitter: 0.5 };

/** So many failures in a row, without an event between them, end the read: somebody else may try it later. */
export const MAX_FAILURES = 10;

/** The service may ask for longer, but a split that waits for so long is better given back. */
const MAX_ASKED_MILLIS = 60_000;

type Oversized = Extract<ReadEvent, { kind: 'oversized' }>;

/**
 * Reads a range to its end: every row of it, in the order of the keys, in hand-overs of at least one event. This is the
 * one layer that retries. What may pass by itself opens what is left after the last event that was handed on, after a
 * jittered backoff; each event lets the failures count anew. What is left is looked at before every opening: an attempt
 * that failed after its last row leaves nothing, and a request for nothing would be one for the whole table.
 *
 * A hand-over is what one fetch of a reader gives: at most `maxRowsPerFetch` rows and `maxBytesPerFetch` bytes, a single
 * row whatever its size, and never more than one message of the service holds.
 *
 * Done: the range is read to its end, by the service's word. Rejects with the signal's reason where that aborted,
 * whatever the stream looked like then; with a {@link ReadFailedError} otherwise. Leaving the loop cancels the call.
 */
export async function* readRange(
  read: RangeRead,
  reader: Reader & { readonly random: Random },
  signal: AbortSignal,
): AsyncGenerator<readonly ReadEvent[], undefined> {
  // The last one is next. More than one is there only around a row that the service will not read.
  const parts: (RowRange | Oversized)[] = [normaliseRange(read.range)];
  let failures = 0;
  for (let part = parts.pop(); part; part = parts.pop()) {
    if ('kind' in part) {
      yield [part];
      continue;
    }
    if (isEmptyRange(part)) continue;
    refuseAborted(signal);
    const attempt = new Attempt({ ...read, range: part }, reader, signal);
    try {
      for (let events = await attempt.next(); events; events = await attempt.next()) {
        failures = 0;
        yield events;
      }
    } finally {
      await attempt.close();
    }
    refuseAborted(signal);
    const ending = attempt.ending as Ending;
    if (ending.kind === 'finished') continue;
    if (ending.oversizedKey) {
      parts.push(...around(attempt.rest, ending.oversizedKey, ending.status, read));
      continue;
    }
    failures += 1;
    if (!mayPass(ending.status) || failures === MAX_FAILURES)
      throw new ReadFailedError('ReadRows', read.table, ending.status);
    const { retryAfterMillis = 0 } = ending;
    const delay = Math.max(
      backoffDelay(REOPENING, failures, reader.random),
      Math.min(retryAfterMillis, MAX_ASKED_MILLIS),
    );
    await sleep(reader.clock, delay, signal);
    parts.push(attempt.rest);
  }
  return undefined;
}

function refuseAborted(signal: AbortSignal): void {
  if (signal.aborted) throw abortReason(signal);
}

/**
 * What is to be done around a row that the service will not read, the last of it first. A failure may overtake rows that
 * came before it, so that everything up to the row is asked for again before the row is passed.
 */
function around(rest: RowRange, key: Buffer, status: Status, { table }: RangeRead): (RowRange | Oversized)[] {
  if (!containsKey(rest, key)) {
    const message = `the service names a row too large to read that lies outside the range: ${status.message}`;
    throw new ReadFailedError('ReadRows', table, { code: 'INTERNAL', message });
  }
  const oversized: Oversized = {
    kind: 'oversized',
    key: Buffer.from(key),
    problem: `${status.code}: ${status.message}`,
  };
  return [truncateAfter(rest, key), oversized, { start: rest.start, end: openBound(key) }];
}

/** How clients report that the HTTP/2 stream was cut under a call. */
const STREAM_RESET = /rst.?stream|http\/2 error code|connection closed|unexpected eos/i;

/** Whether another attempt may fare better without anybody doing anything. */
const mayPass = ({ code, message }: Status): boolean =>
  code === 'UNAVAILABLE' ||
  code === 'ABORTED' ||
  code === 'DEADLINE_EXCEEDED' ||
  ((code === 'INTERNAL' || code === 'CANCELLED') && STREAM_RESET.test(message));
