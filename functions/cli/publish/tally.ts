import { grouped } from '../amounts.ts';
import type { Position, ReadProgress } from './records.ts';

/** What became of the input. Holds a bounded number of failures; the rest is only counted. */

const MAX_FAILURES_SHOWN = 20;

export interface Tally {
  publishedRecords: number;
  publishedMessages: number;
  publishedBytes: number;
  failedRecords: number;
  /** On their way when the command was told to end: they may have arrived. */
  unconfirmedRecords: number;
  readonly failures: Failure[];
}

export interface Failure {
  readonly from: Position;
  readonly to: Position;
  readonly reason: string;
}

export const createTally = (): Tally => ({
  publishedRecords: 0,
  publishedMessages: 0,
  publishedBytes: 0,
  failedRecords: 0,
  unconfirmedRecords: 0,
  failures: [],
});

export function addPublished(tally: Tally, records: number, bytes: number): void {
  tally.publishedRecords += records;
  tally.publishedMessages += 1;
  tally.publishedBytes += bytes;
}

export function addFailed(tally: Tally, records: number, failure: Failure): void {
  tally.failedRecords += records;
  if (tally.failures.length < MAX_FAILURES_SHOWN) tally.failures.push(failure);
}

/** One line per failure that was kept, in the order in which they became known. */
export function failureLines({ failures, failedRecords }: Tally): string[] {
  const lines = failures.map(({ from, to, reason }) => `${positions(from, to)}: ${reason}`);
  return failures.length < MAX_FAILURES_SHOWN ? lines : [...lines, `… ${failedRecords} records failed in all`];
}

function positions(from: Position, to: Position): string {
  if (from.source !== to.source) return `${from.source}, line ${from.line} to ${to.source}, line ${to.line}`;
  return from.line === to.line ? `${from.source}, line ${from.line}` : `${from.source}, lines ${from.line}-${to.line}`;
}

export interface Advance {
  readonly tally: Tally;
  readonly read: ReadProgress;
  readonly elapsedMillis: number;
  /** Undefined where the size of the input is not known. */
  readonly totalBytes: number | undefined;
}

/**
 * `12,000 published, 16,000 read, 3,000/s, 40 %, about 6 s left`: the share is that of the records whose publish has ended,
 * and the last two are there only where the size of the input is known.
 */
export function progressLine({ tally, read, elapsedMillis, totalBytes }: Advance): string {
  const { publishedRecords, failedRecords } = tally;
  const perSecond = elapsedMillis > 0 ? Math.round((publishedRecords * 1_000) / elapsedMillis) : 0;
  const parts = [`${grouped(publishedRecords)} published`, `${grouped(read.records)} read`];
  if (failedRecords > 0) parts.push(`${grouped(failedRecords)} failed`);
  parts.push(`${grouped(perSecond)}/s`);
  const ended = publishedRecords + failedRecords;
  if (totalBytes !== undefined && totalBytes > 0 && read.records > 0) {
    // As many records as there are if those to come are as long as those that were read.
    const share = Math.min(1, (ended / read.records) * (read.bytesRead / totalBytes));
    parts.push(`${Math.floor(share * 100)} %`);
    if (share > 0) parts.push(`about ${grouped(Math.ceil((elapsedMillis * (1 / share - 1)) / 1_000))} s left`);
  }
  return parts.join(', ');
}
