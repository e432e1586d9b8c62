import type { Position } from './records.ts';

/** What became of the input. Holds a bounded number of failures; the rest is only counted. */

const MAX_FAILURES_SHOWN = 20;

export interface Tally {
  publishedRecords: number;
  publishedMessages: number;
  publishedBytes: number;
  failedRecords: number;
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
  readonly records: number;
  readonly elapsedMillis: number;
  readonly bytesRead: number;
  /** Undefined where the size of the input is not known. */
  readonly totalBytes: number | undefined;
}

/** `12,000 records, 3,000/s, 40 %, about 6 s left`: the last two only where the size of the input is known. */
export function progressLine({ records, elapsedMillis, bytesRead, totalBytes }: Advance): string {
  const perSecond = elapsedMillis > 0 ? Math.round((records * 1_000) / elapsedMillis) : 0;
  const parts = [`${grouped(records)} records`, `${grouped(perSecond)}/s`];
  if (totalBytes !== undefined && totalBytes > 0 && bytesRead > 0) {
    const share = Math.min(1, bytesRead / totalBytes);
    const leftSeconds = Math.ceil((elapsedMillis * (1 / share - 1)) / 1_000);
    parts.push(`${Math.floor(share * 100)} %`, `about ${grouped(leftSeconds)} s left`);
  }
  return parts.join(', ');
}

export const grouped = (value: number): string => value.toLocaleString('en-US');
