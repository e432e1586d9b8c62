import type { Clock } from '../../../../../shared/base/clock.ts';
import { isAddition } from './apply.ts';
import type { ReplicatedChange, TableCopy } from './table-copy.ts';

/**
 * Changes on their way to the other clusters: all of them arrive after the same delay, in the order in which they were
 * made, so two clusters become alike. Of two writes of one cell the later one stays, by the time at which each was made, as
 * the service has it (replication overview, "conflict resolution"). Additions to an aggregate commute: each arrives as
 * itself. What a conditional write did arrives, and not its condition.
 *
 * A simplification: the service promises no order and no delay, and an addition that crosses a deletion of its cell may
 * come out otherwise there. Schemas change in all clusters at once. Memory grows with what is on its way.
 */
export class Replication {
  readonly #clock: Clock;
  readonly #delayMillis: number;
  /** In the order of their making, the oldest first. */
  readonly #onTheWay: { readonly dueAt: number; readonly change: ReplicatedChange }[] = [];
  /** How many of them each cluster has made. */
  readonly #countOf = new Map<TableCopy, number>();
  #sent = 0;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, delayMillis: number) {
    this.#clock = clock;
    this.#delayMillis = delayMillis;
  }

  /** How many changes were ever made, and how many of them are everywhere: the first ones. */
  get sent(): number {
    return this.#sent;
  }

  get arrived(): number {
    return this.#sent - this.#onTheWay.length;
  }

  send(change: ReplicatedChange): void {
    this.#sent += 1;
    this.#onTheWay.push({ dueAt: this.#clock.now() + this.#delayMillis, change });
    this.#count(change.origin, 1);
    if (this.#onTheWay.length === 1) this.#wait();
  }

  /** Everything arrives now. */
  settle(): void {
    this.#deliver(Infinity);
  }

  /** What is on its way is lost. */
  close(): void {
    this.#cancel?.();
    this.#onTheWay.length = 0;
    this.#countOf.clear();
  }

  #wait(): void {
    const next = this.#onTheWay.at(0);
    this.#cancel?.();
    this.#cancel =
      next &&
      this.#clock.after(next.dueAt - this.#clock.now(), () => {
        this.#deliver(this.#clock.now());
      });
  }

  #deliver(now: number): void {
    let arrived = 0;
    for (const { dueAt, change } of this.#onTheWay) {
      if (dueAt > now) break;
      arrived += 1;
      this.#count(change.origin, -1);
      for (const copy of change.others) {
        copy.receive(change);
        if (this.#countOf.has(copy)) this.#putLaterBack(copy, change, arrived);
      }
    }
    this.#onTheWay.splice(0, arrived);
    this.#wait();
  }

  /** What a cluster wrote itself after a change that arrives only now stands over it. */
  #putLaterBack(copy: TableCopy, { rowKey }: ReplicatedChange, from: number): void {
    for (let at = from; at < this.#onTheWay.length; at += 1) {
      const later = this.#onTheWay[at]?.change;
      if (later?.origin !== copy || later.rowKey !== rowKey) continue;
      const mutations = later.mutations.filter((mutation) => !isAddition(mutation));
      copy.receive({ ...later, mutations, told: undefined });
    }
  }

  #count(origin: TableCopy, change: number): void {
    const count = (this.#countOf.get(origin) ?? 0) + change;
    if (count === 0) this.#countOf.delete(origin);
    else this.#countOf.set(origin, count);
  }
}
