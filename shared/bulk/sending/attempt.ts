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

/** What became of the writes of one request. Those that are not named here are decided otherwise: applied, or redelivered. */
export interface Attempt {
  /** Refused together with others. */
  readonly suspects: readonly RowWrite[];
  /** Refused alone, and settled or set aside. */
  readonly blamed: number;
  /** Met a transient failure: they go again later. */
  readonly retried: number;
}

/** Sends the writes in one request and decides what can be decided. */
export async function attempt(
  writes: readonly RowWrite[],
  purpose: 'write' | 'isolate',
  course: Course,
): Promise<Attempt> {
  const { batch } = course;
  const wanted = writes.filter((write) => stillWanted(write, batch));
  if (wanted.length === 0) return { suspects: [], blamed: 0, retried: 0 };
  const answers = await batch.send(
    wanted.map(({ parts }) => parts),
    purpose,
  );
  const again: Retry[] = [];
  let blamed = 0;
  const suspects = wanted.filter((write, index) => {
    const isAlone = wanted.length === 1 && write.parts.length === 1;
    const verdict = verdictOf(answerAt(answers, index), isAlone);
    if (isAlone && isBlame(verdict)) blamed += 1;
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
  return { suspects, blamed, retried: again.length };
}

/** Whether an entry that is alone was refused for what it holds. */
export const isBlame = (verdict: Verdict): boolean =>
  verdict.kind === 'rejected' || (verdict.kind === 'redeliver' && verdict.reason === 'missing-family');

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
export function setsAside(
  write: RowWrite,
  answered: readonly WaitingEntry[],
  verdict: Verdict,
  { aside }: Course,
): boolean {
  const missing = aside && missingBy(verdict, aside.evenShared);
  if (!missing) return false;
  aside.add({ write, ...missing }, answered);
  return true;
}

/** With what the round says of an entry that is redelivered because something is missing. */
export function advised(verdict: FinalVerdict, { advice }: Course): FinalVerdict {
  const isMissing = missingBy(verdict, false) !== undefined;
  return advice !== undefined && isMissing && verdict.kind === 'redeliver' ? { ...verdict, advice } : verdict;
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

const answerAt = (answers: readonly EntryAnswer[], index: number): EntryAnswer =>
  answers[index] ?? { kind: 'unanswered' };
