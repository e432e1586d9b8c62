import type { Status } from '../model/status.ts';
import { verdictOf, type Verdict } from './classify.ts';
import type { EntryAnswer } from './answer.ts';
import type { LaneEntry, RowWrite } from './lane.ts';

/** A verdict that ends an entry's stay in the batcher. */
export type FinalVerdict = Exclude<Verdict, { kind: 'suspect' } | { kind: 'retry' }>;

/** A write that met the weather: those of its entries that are undecided, and what was answered. */
export interface Retry<Entry extends LaneEntry> {
  readonly write: RowWrite<Entry>;
  readonly undecided: readonly Entry[];
  readonly status: Status;
}

/** What a batch may do to its entries. Given by the batcher; a fake in tests. */
export interface BatchActions<Entry extends LaneEntry> {
  /** One request with one wire entry per group of parts; one answer each, by index. `purpose` only names the metric. */
  send(groups: readonly (readonly Entry[])[], purpose: 'write' | 'isolate'): Promise<readonly EntryAnswer[]>;
  settle(entry: Entry, verdict: FinalVerdict): void;
  /** Sends what one answer left undecided again later, with the rows still held; together, as it was sent before. */
  retry(again: readonly Retry<Entry>[]): void;
  /** The entry's invocation is gone: it is done with, unsent. */
  discard(entry: Entry): void;
  /** Frees the row of a write that is decided. */
  release(write: RowWrite<Entry>): void;
}

/**
 * One batch from its request to a decision on every entry.
 *
 * What is answered is settled at once. What was refused together is narrowed down by halves, and only an entry that
 * was refused alone is rejected: `k` bad entries among `n` cost about `k·log n` requests. A write that merged several
 * records of one row is taken apart before any of them is blamed.
 */
export async function deliverBatch<Entry extends LaneEntry>(
  batch: readonly RowWrite<Entry>[],
  actions: BatchActions<Entry>,
): Promise<void> {
  const suspects = await attempt(batch, 'write', actions);
  await narrow(suspects, batch.length === 1, actions);
}

/** Sends the writes in one request, decides what can be decided, and returns those that are under suspicion. */
async function attempt<Entry extends LaneEntry>(
  writes: readonly RowWrite<Entry>[],
  purpose: 'write' | 'isolate',
  actions: BatchActions<Entry>,
): Promise<RowWrite<Entry>[]> {
  const wanted = writes.filter((write) => stillWanted(write, actions));
  if (wanted.length === 0) return [];
  const answers = await actions.send(
    wanted.map(({ parts }) => parts),
    purpose,
  );
  const again: Retry<Entry>[] = [];
  const suspects = wanted.filter((write, index) => {
    const isAlone = wanted.length === 1 && write.parts.length === 1;
    const verdict = verdictOf(answerAt(answers, index), isAlone);
    if (verdict.kind === 'suspect') return true;
    if (verdict.kind === 'retry') {
      again.push({ write, undecided: write.parts, status: verdict.status });
    } else {
      for (const part of write.parts) actions.settle(part, verdict);
      actions.release(write);
    }
    return false;
  });
  if (again.length > 0) actions.retry(again);
  return suspects;
}

/** Halves the suspects until each is cleared or alone. `wereAlone`: their refused request held nothing else than one write. */
async function narrow<Entry extends LaneEntry>(
  suspects: readonly RowWrite<Entry>[],
  wereAlone: boolean,
  actions: BatchActions<Entry>,
): Promise<void> {
  const [first] = suspects;
  if (!first) return;
  if (suspects.length === 1) {
    const isStillSuspect = wereAlone || (await attempt(suspects, 'isolate', actions)).length > 0;
    if (isStillSuspect) await takeApart(first, actions);
    return;
  }
  const middle = Math.ceil(suspects.length / 2);
  for (const half of [suspects.slice(0, middle), suspects.slice(middle)]) {
    await narrow(await attempt(half, 'isolate', actions), half.length === 1, actions);
  }
}

/** Sends the records of a refused merged write one by one, in order, each alone. */
async function takeApart<Entry extends LaneEntry>(write: RowWrite<Entry>, actions: BatchActions<Entry>): Promise<void> {
  const { parts } = write;
  for (const [index, part] of parts.entries()) {
    if (part.isAbandoned) {
      actions.discard(part);
      continue;
    }
    const [answer] = await actions.send([[part]], 'isolate');
    const verdict = verdictOf(answer ?? { kind: 'unanswered' }, true);
    if (verdict.kind === 'retry') {
      actions.retry([{ write, undecided: parts.slice(index), status: verdict.status }]);
      return;
    }
    if (verdict.kind === 'suspect') throw new Error('an entry that was alone in its request cannot be a suspect');
    actions.settle(part, verdict);
  }
  actions.release(write);
}

/** Leaves out entries that nobody waits for; a write without any left is released unsent. */
function stillWanted<Entry extends LaneEntry>(write: RowWrite<Entry>, actions: BatchActions<Entry>): boolean {
  if (!write.parts.some(({ isAbandoned }) => isAbandoned)) return true;
  for (const part of write.parts) if (part.isAbandoned) actions.discard(part);
  write.parts = write.parts.filter(({ isAbandoned }) => !isAbandoned);
  if (write.parts.length > 0) return true;
  actions.release(write);
  return false;
}

const answerAt = (answers: readonly EntryAnswer[], index: number): EntryAnswer =>
  answers[index] ?? { kind: 'unanswered' };
