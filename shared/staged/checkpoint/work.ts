import { cutNumber, type IdRange } from '../segment-id.ts';
import { type Amount, amountOf, NO_AMOUNT, scaled, type SegmentHead, sumOf } from '../state.ts';
import type { CommitWork } from '../work-message.ts';

/**
 * How segments become messages for committers. Pure. A push of work should end within a second with the instance full:
 * one that is held longer keeps the push window of its subscription small.
 */

/** What one message holds at most, by what is known of it. A larger segment goes alone. */
export const MAX_WORK: Amount = { segments: 200, envelopes: 1000, bytes: 8 * 1024 * 1024 };

/** Ids of one message. */
const MAX_IDS = 100;

/** The most shares that a lane of a number is cut into at once. */
const MAX_SHARES = 1000;

/** In how many messages an amount goes out. */
const sharesOf = ({ segments, envelopes, bytes }: Amount): number =>
  Math.ceil(Math.max(segments / MAX_WORK.segments, envelopes / MAX_WORK.envelopes, bytes / MAX_WORK.bytes));

/**
 * Everything of a number, whether it was counted or comes while it is sent: a lane is one range, or equal shares of it.
 *
 * @param counts segments of each lane; lanes that seem empty go with another.
 * @param sample what segments of this number weigh.
 */
export function workOfNumber(
  pipeline: string,
  number: number,
  counts: readonly number[],
  sample: Amount,
): CommitWork[] {
  const segmentBytes = bytesOfOne(sample);
  const messages: { ranges: IdRange[]; amount: Amount }[] = [];
  const pieces = counts.flatMap((count, lane) => {
    const amount = scaled(sample, count);
    const shares = Math.min(MAX_SHARES, Math.max(1, sharesOf(amount)));
    return cutNumber(lane, number, shares).map((range) => ({ range, amount: scaled(amount, count / shares) }));
  });
  for (const { range, amount } of pieces) {
    const last = messages.at(-1);
    const together = last && sumOf([last.amount, amount]);
    if (last && together && sharesOf(together) <= 1) {
      last.ranges.push(range);
      last.amount = together;
    } else {
      messages.push({ ranges: [range], amount });
    }
  }
  return messages.map(({ ranges }) => ({ ...noWork(pipeline), ranges, segmentBytes }));
}

/** Just these segments. */
export function workOfHeads(pipeline: string, heads: readonly SegmentHead[]): CommitWork[] {
  const messages: SegmentHead[][] = [];
  let amount = NO_AMOUNT;
  for (const head of heads) {
    amount = sumOf([amount, amountOf([head])]);
    const last = messages.at(-1);
    if (last && last.length < MAX_IDS && sharesOf(amount) <= 1) last.push(head);
    else {
      messages.push([head]);
      amount = amountOf([head]);
    }
  }
  return messages.map((each) => ({
    ...noWork(pipeline),
    segments: each.map(({ id }) => id),
    segmentBytes: bytesOfOne(amountOf(each)),
  }));
}

/** Rests to be tried again. Each is few envelopes, but a payload may be large. */
export function workOfRests(pipeline: string, ids: readonly string[]): CommitWork[] {
  const messages: CommitWork[] = [];
  for (let at = 0; at < ids.length; at += RESTS_PER_MESSAGE) {
    messages.push({ ...noWork(pipeline), rests: ids.slice(at, at + RESTS_PER_MESSAGE) });
  }
  return messages;
}

const RESTS_PER_MESSAGE = 8;

const noWork = (pipeline: string): CommitWork => ({ pipeline, ranges: [], segments: [], rests: [], segmentBytes: 0 });

const bytesOfOne = ({ segments, bytes }: Amount): number => (segments === 0 ? 0 : Math.ceil(bytes / segments));
