import type { EntryAnswer } from './answer.ts';
import type { BatchActions, Course, Missing, Retry } from './batch-actions.ts';
import { type FinalVerdict, verdictOf, type Verdict } from './verdict.ts';
import type { LaneEntry, RowWrite } from './lane.ts';

/**
 * Sends the writes in one request and decides all of them.
 *
 * What is answered is settled at once. What was refused together is narrowed down by halves, and only an entry that
 * was refused alone is rejected: `k` bad entries among `n` cost about `k·log n` requests. A write that merged several
 * records of one row is taken apart before any of them is blamed.
 */
export async function decide<Entry extends LaneEntry>(
  writes: readonly RowWrite<Entry>[],
  purpose: 'write' | 'isolate',
  course: Course<Entry>,
): Promise<void> {
  await narrow(await attempt(writes, purpose, course), writes.length === 1, course);
}

/** Sends the writes in one request, decides what can be decided, and returns those that are under suspicion. */
async function attempt<Entry extends LaneEntry>(
  writes: readonly RowWrite<Entry>[],
  purpose: 'write' | 'isolate',
  course: Course<Entry>,
): Promise<RowWrite<Entry>[]> {
  const { actions } = course;
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
    if (setsAside(write, write.parts, verdict, course)) return false;
    if (verdict.kind === 'suspect') return true;
    if (verdict.kind === 'retry') {
      again.push({ write, undecided: write.parts, status: verdict.status });
    } else {
      for (const part of write.parts) actions.settle(part, advised(verdict, course));
      actions.release(write);
    }
    return false;
  });
  if (again.length > 0) actions.retry(again);
  return suspects;
}

/** Halves the suspects until each is cleared or alone. `wereAlone`: their refused request held nothing else than one write. */
export async function narrow<Entry extends LaneEntry>(
  suspects: readonly RowWrite<Entry>[],
  wereAlone: boolean,
  course: Course<Entry>,
): Promise<void> {
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
 * Sends the records of a refused merged write one by one, in order, each alone. A record that meets a transient failure or is set
 * aside keeps the records behind it: nothing overtakes it in its row.
 */
async function takeApart<Entry extends LaneEntry>(write: RowWrite<Entry>, course: Course<Entry>): Promise<void> {
  const { actions } = course;
  const { parts } = write;
  for (const [index, part] of parts.entries()) {
    if (part.isAbandoned) {
      actions.discard(part);
      continue;
    }
    const [answer] = await actions.send([[part]], 'isolate');
    const verdict = verdictOf(answer ?? { kind: 'unanswered' }, true);
    if (setsAside(write, [part], verdict, course)) {
      write.parts = parts.slice(index);
      return;
    }
    if (verdict.kind === 'retry') {
      actions.retry([{ write, undecided: parts.slice(index), status: verdict.status }]);
      return;
    }
    if (verdict.kind === 'suspect') throw new Error('an entry that was alone in its request cannot be a suspect');
    actions.settle(part, advised(verdict, course));
  }
  actions.release(write);
}

/** Leaves out entries that nobody waits for; a write without any left is released unsent. */
export function stillWanted<Entry extends LaneEntry>(write: RowWrite<Entry>, actions: BatchActions<Entry>): boolean {
  if (!write.parts.some(({ isAbandoned }) => isAbandoned)) return true;
  for (const part of write.parts) if (part.isAbandoned) actions.discard(part);
  write.parts = write.parts.filter(({ isAbandoned }) => !isAbandoned);
  if (write.parts.length > 0) return true;
  actions.release(write);
  return false;
}

/** Whether the verdict takes the write out of this round, which it then has. */
function setsAside<Entry extends LaneEntry>(
  write: RowWrite<Entry>,
  answered: readonly Entry[],
  verdict: Verdict,
  { aside }: Course<Entry>,
): boolean {
  const missing = aside && missingBy(verdict, aside.evenShared);
  if (!missing) return false;
  aside.add({ write, ...missing }, answered);
  return true;
}

function missingBy(verdict: Verdict, evenShared: boolean): Omit<Missing<never>, 'write'> | undefined {
  if (verdict.kind === 'suspect') {
    const isMissing = evenShared && verdict.status.code === 'NOT_FOUND';
    return isMissing ? { reason: 'missing-family', status: verdict.status } : undefined;
  }
  if (verdict.kind !== 'redeliver') return undefined;
  const { reason, status } = verdict;
  return reason === 'missing-table' || reason === 'missing-family' ? { reason, status } : undefined;
}

function advised<Entry extends LaneEntry>(verdict: FinalVerdict, { advice }: Course<Entry>): FinalVerdict {
  const isMissing = missingBy(verdict, false) !== undefined;
  return advice !== undefined && isMissing && verdict.kind === 'redeliver' ? { ...verdict, advice } : verdict;
}

const answerAt = (answers: readonly EntryAnswer[], index: number): EntryAnswer =>
  answers[index] ?? { kind: 'unanswered' };
