import { verdictOf } from '../verdict.ts';
import type { WaitingEntry } from '../waiting/waiting-entry.ts';
import { advised, type Attempt, attempt, type Course, isBlame, setsAside } from './attempt.ts';
import type { RowWrite } from './write-queue.ts';

/** A quarter: from there on, halves cost more requests than there are entries. */
const HIGH_SHARE = 1 / 4;

/** Bad entries of which a share means anything. */
const MIN_BAD = 4;

/** So many entries are sent at once, each in a request of its own, where the share of bad ones is high. */
const SINGLES_AT_ONCE = 8;

/**
 * Sends the writes in one request and decides all of them.
 *
 * What is answered is settled at once. What was refused together is narrowed down by halves, and only an entry that
 * was refused alone is rejected: `k` bad entries among `n` cost about `k·log n` requests, one after the other. Where a
 * quarter of what was decided so far is bad, halves cost more than they clear: the rest is sent one by one, eight at
 * once, until the share falls. So `n` bad entries cost about `n` requests and an eighth of their time. A write that
 * merged several records of one row is narrowed down in its order before any of them is blamed.
 */
export async function decide(writes: readonly RowWrite[], purpose: 'write' | 'isolate', course: Course): Promise<void> {
  await narrow((await attempt(writes, purpose, course)).suspects, writes.length === 1, course);
}

/** Writes that are still undecided. */
interface Group {
  readonly writes: readonly RowWrite[];
  /** Their request was refused, and held nothing else. */
  readonly isRefused: boolean;
}

/** Narrows the suspects down until each is cleared or alone. `wereAlone`: their refused request held nothing else than one write. */
export async function narrow(suspects: readonly RowWrite[], wereAlone: boolean, course: Course): Promise<void> {
  const [only] = suspects;
  if (only && wereAlone) {
    await takeApart(only, course);
    return;
  }
  const share = new BadShare();
  /** What comes next is last. */
  const left: Group[] = [{ writes: suspects, isRefused: suspects.length > 1 }];
  for (let group = left.pop(); group; group = left.pop()) {
    if (share.isHigh) {
      left.push(group);
      await sendSingles(takeSome(left), share, course);
    } else if (group.isRefused) {
      const [first, second] = halvesOf(group.writes);
      left.push({ writes: second, isRefused: false }, { writes: first, isRefused: false });
    } else if (group.writes.length === 1) {
      await sendSingles(group.writes, share, course);
    } else {
      const answered = await attempt(group.writes, 'isolate', course);
      share.add(answered, group.writes.length);
      if (answered.suspects.length > 0) left.push({ writes: answered.suspects, isRefused: true });
    }
  }
}

/** Takes the next writes, a few; those behind them are undecided as before. */
function takeSome(left: Group[]): RowWrite[] {
  const some: RowWrite[] = [];
  while (some.length < SINGLES_AT_ONCE) {
    const group = left.pop();
    if (!group) break;
    const room = SINGLES_AT_ONCE - some.length;
    some.push(...group.writes.slice(0, room));
    if (group.writes.length > room) left.push({ writes: group.writes.slice(room), isRefused: false });
  }
  return some;
}

/** Sends each write in a request of its own, all at once: they are of different rows. Ends when all have ended. */
async function sendSingles(writes: readonly RowWrite[], share: BadShare, course: Course): Promise<void> {
  const ends = await Promise.allSettled(
    writes.map(async (write) => {
      const answered = await attempt([write], 'isolate', course);
      const isTaken = answered.suspects.length > 0;
      share.add(isTaken ? { suspects: [], blamed: 1, retried: 0 } : answered, 1);
      if (isTaken) await takeApart(write, course);
    }),
  );
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/**
 * Narrows the records of a refused merged write down, in their order and one request after the other. A record that meets a
 * transient failure or is set aside keeps the records behind it: nothing overtakes it in its row.
 */
async function takeApart(write: RowWrite, course: Course): Promise<void> {
  const { batch } = course;
  const share = new BadShare();
  /** In the order of the records; what comes next is last. The whole is known to be refused. */
  const left: (readonly WaitingEntry[])[] = [...halvesOf(write.parts)].reverse();
  for (let parts = left.pop(); parts; parts = left.pop()) {
    for (const part of parts) if (part.isAbandoned) batch.discard(part);
    const wanted = parts.filter(({ isAbandoned }) => !isAbandoned);
    if (wanted.length === 0) continue;
    if (wanted.length > 1 && share.isHigh) {
      left.push(wanted.slice(1), wanted.slice(0, 1));
      continue;
    }
    const [answer] = await batch.send([wanted], 'isolate');
    const verdict = verdictOf(answer ?? { kind: 'unanswered' }, wanted.length === 1);
    const undecided = (): WaitingEntry[] => [...wanted, ...left.toReversed().flat()];
    if (setsAside(write, wanted, verdict, course)) {
      write.parts = undecided();
      return;
    }
    if (verdict.kind === 'retry') {
      batch.retry([{ write, undecided: undecided(), status: verdict.status }]);
      return;
    }
    if (verdict.kind === 'suspect') {
      left.push(...[...halvesOf(wanted)].reverse());
      continue;
    }
    share.add({ suspects: [], blamed: isBlame(verdict) ? 1 : 0, retried: 0 }, wanted.length);
    for (const part of wanted) batch.settle(part, advised(verdict, course));
  }
  batch.release(write);
}

/** How much of what a narrowing down has decided so far was bad. It may fall again: bad entries come in runs. */
class BadShare {
  #bad = 0;
  #decided = 0;

  get isHigh(): boolean {
    return this.#bad >= MIN_BAD && this.#bad >= this.#decided * HIGH_SHARE;
  }

  /** @param entries how many the attempt held. */
  add({ suspects, blamed, retried }: Attempt, entries: number): void {
    // In an outage as few requests as possible go out, so nothing is sent by itself.
    this.#bad = retried > 0 ? 0 : this.#bad + blamed;
    this.#decided = retried > 0 ? 0 : this.#decided + entries - suspects.length;
  }
}

function halvesOf<Item>(items: readonly Item[]): readonly [readonly Item[], readonly Item[]] {
  const middle = Math.ceil(items.length / 2);
  return [items.slice(0, middle), items.slice(middle)];
}
