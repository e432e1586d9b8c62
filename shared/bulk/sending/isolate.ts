import type { Status } from '../../model/status.ts';
import type { EntryAnswer } from '../answer.ts';
import { type FinalVerdict, verdictOf, type Verdict } from '../verdict.ts';
import type { WaitingEntry } from '../waiting/waiting-entry.ts';
import type { Batch, Retry } from './batch.ts';
import type { RowWrite } from './write-queue.ts';

/** How one round of sending and narrowing down treats what is missing. */
export interface Course {
  readonly batch: Batch;
  /**
   * Takes what was answered NOT_FOUND out of the round, undecided. Without it, an entry that is alone is redelivered.
   * `evenShared`: a batch that shares the suspicion of a missing family is set aside whole instead of narrowed down.
   */
  readonly aside?: {
    readonly evenShared: boolean;
    add(missing: Missing, answered: readonly WaitingEntry[]): void;
  };
  /** What to say of an entry that is redelivered because something is missing. */
  readonly advice?: string;
}

/** A write that was answered NOT_FOUND and is to be repaired. */
export interface Missing {
  readonly write: RowWrite;
  readonly reason: 'missing-table' | 'missing-family';
  readonly status: Status;
}

/**
 * Sends the writes in one request and decides all of them.
 *
 * What is answered is settled at once. What was refused together is narrowed down by halves, and only an entry that
 * was refused alone is rejected: `k` bad entries among `n` cost about `k·log n` requests. A write that merged several
 * records of one row is taken apart before any of them is blamed.
 */
export async function decide(writes: readonly RowWrite[], purpose: 'write' | 'isolate', course: Course): Promise<void> {
  await narrow(await attempt(writes, purpose, course), writes.length === 1, course);
}

/** Sends the writes in one request, decides what can be decided, and returns those that are under suspicion. */
async function attempt(writes: readonly RowWrite[], purpose: 'write' | 'isolate', course: Course): Promise<RowWrite[]> {
  const { batch } = course;
  const wanted = writes.filter((write) => stillWanted(write, batch));
  if (wanted.length === 0) return [];
  const answers = await batch.send(
    wanted.map(({ parts }) => parts),
    purpose,
  );
  const again: Retry[] = [];
  const suspects = wanted.filter((write, index) => {
    const isAlone = wanted.length === 1 && write.parts.length === 1;
    const verdict = verdictOf(answerAt(answers, index), isAlone);
    if (setsAside(write, write.parts, verdict, course)) return false;
    if (verdict.kind === 'suspect') return true;
    if (verdict.kind === 'retry') {
      again.push({ write, undecided: write.parts, status: verdict.status });
    } else {
      for (const part of write.parts) batch.settle(part, advised(verdict, course));
      batch.release(write);
    }
    return false;
  });
  if (again.length > 0) batch.retry(again);
  return suspects;
}

/** Halves the suspects until each is cleared or alone. `wereAlone`: their refused request held nothing else than one write. */
export async function narrow(suspects: readonly RowWrite[], wereAlone: boolean, course: Course): Promise<void> {
  const [first] = suspects;
  if (!first) return;
  if (suspects.length === 1) {
    const isStillSuspect = wereAlone || (await attempt(suspects, 'isolate', course)).length > 0;
    if (isStillSuspect) await takeApart(first, course);
    return;
  }
  const middle = Math.ceil(suspects.length / 2);
  for (const half of [suspects.slice(0, middle), suspects.slice(middle)]) {
    await narrow(await attempt(half, 'isolate', course), half.length === 1, course);
  }
}

/**
 * Sends the records of a refused merged write one by one, in order, each alone. A record that meets a transient failure or is
 * set aside keeps the records behind it: nothing overtakes it in its row.
 */
async function takeApart(write: RowWrite, course: Course): Promise<void> {
  const { batch } = course;
  const { parts } = write;
  for (const [index, part] of parts.entries()) {
    if (part.isAbandoned) {
      batch.discard(part);
      continue;
    }
    const [answer] = await batch.send([[part]], 'isolate');
    const verdict = verdictOf(answer ?? { kind: 'unanswered' }, true);
    if (setsAside(write, [part], verdict, course)) {
      write.parts = parts.slice(index);
      return;
    }
    if (verdict.kind === 'retry') {
      batch.retry([{ write, undecided: parts.slice(index), status: verdict.status }]);
      return;
    }
    if (verdict.kind === 'suspect') throw new Error('an entry that was alone in its request cannot be a suspect');
    batch.settle(part, advised(verdict, course));
  }
  batch.release(write);
}

/** Leaves out entries that nobody waits for; a write without any left is released unsent. */
export function stillWanted(write: RowWrite, batch: Batch): boolean {
  if (!write.parts.some(({ isAbandoned }) => isAbandoned)) return true;
  for (const part of write.parts) if (part.isAbandoned) batch.discard(part);
  write.parts = write.parts.filter(({ isAbandoned }) => !isAbandoned);
  if (write.parts.length > 0) return true;
  batch.release(write);
  return false;
}

/** Whether the verdict takes the write out of this round, which it then has. */
function setsAside(write: RowWrite, answered: readonly WaitingEntry[], verdict: Verdict, { aside }: Course): boolean {
  const missing = aside && missingBy(verdict, aside.evenShared);
  if (!missing) return false;
  aside.add({ write, ...missing }, answered);
  return true;
}

function missingBy(verdict: Verdict, evenShared: boolean): Omit<Missing, 'write'> | undefined {
  if (verdict.kind === 'suspect') {
    const isMissing = evenShared && verdict.status.code === 'NOT_FOUND';
    return isMissing ? { reason: 'missing-family', status: verdict.status } : undefined;
  }
  if (verdict.kind !== 'redeliver') return undefined;
  const { reason, status } = verdict;
  return reason === 'missing-table' || reason === 'missing-family' ? { reason, status } : undefined;
}

function advised(verdict: FinalVerdict, { advice }: Course): FinalVerdict {
  const isMissing = missingBy(verdict, false) !== undefined;
  return advice !== undefined && isMissing && verdict.kind === 'redeliver' ? { ...verdict, advice } : verdict;
}

const answerAt = (answers: readonly EntryAnswer[], index: number): EntryAnswer =>
  answers[index] ?? { kind: 'unanswered' };
