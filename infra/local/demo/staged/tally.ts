import type { Refusing, StagedMessage } from './plan.ts';

/** Where a record came from: its message, by the id that Pub/Sub gave it, and its place in it. */
export interface RecordPlace {
  readonly messageId: string;
  readonly recordIndex: number;
}

export interface Tally {
  /** Effects that the plan has the table refuse, each counted once. */
  readonly refused: number;
  /** Everything else, which must not be there. */
  readonly others: number;
  /** With every copy, of a message that was delivered again after it was acknowledged. */
  readonly copies: number;
}

/** Holds records that were set apart, or filed as letters, against the plan. Pure. */
export function tally(
  found: readonly RecordPlace[],
  published: ReadonlyMap<string, StagedMessage>,
  pipeline: Refusing,
): Tally {
  const refused = new Set<string>();
  let others = 0;
  for (const { messageId, recordIndex } of found) {
    const message = published.get(messageId);
    // Two messages under one id are one effect; without an id every message is its own.
    if (message?.refused[pipeline] === recordIndex) refused.add(message.id ?? messageId);
    else others += 1;
  }
  return { refused: refused.size, others, copies: found.length };
}
