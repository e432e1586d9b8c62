import type { Clock } from '../../base/clock.ts';
import type { TableName } from '../../model/table-name.ts';
import type { RateLimit } from '../answer.ts';
import {
  afterExhausted,
  afterQuiet,
  afterRateLimit,
  afterSend,
  type RateState,
  unlimited,
  waitMillis,
} from './rate.ts';

/** Instances without a limit are forgotten beyond this many. */
const MAX_UNLIMITED = 64;

/** The present rate of every Bigtable instance that is written to. The rules are in `rate.ts`. */
export class RateLimiter {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #states = new Map<string, RateState>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  waitMillis(table: TableName): number {
    return waitMillis(this.#get(table), this.#clock.now());
  }

  sent(table: TableName, entries: number): void {
    this.#set(table, afterSend(this.#get(table), entries, this.#clock.now()));
  }

  answered(table: TableName, rateLimit: RateLimit | undefined, isExhausted: boolean): void {
    const state = this.#get(table);
    const now = this.#clock.now();
    if (rateLimit) this.#set(table, afterRateLimit(state, rateLimit, now));
    else this.#set(table, isExhausted ? afterExhausted(state, now) : afterQuiet(state, now));
  }

  #get({ project, instance }: TableName): RateState {
    return this.#states.get(`${project}/${instance}`) ?? unlimited(this.#clock.now());
  }

  #set({ project, instance }: TableName, state: RateState): void {
    if (this.#states.size >= MAX_UNLIMITED) {
      for (const [key, { perSecond }] of this.#states) if (perSecond === undefined) this.#states.delete(key);
    }
    this.#states.set(`${project}/${instance}`, state);
  }
}
