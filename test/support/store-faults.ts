import { abortable } from '../../shared/base/abort.ts';
import { abortReason, type Clock, sleep } from '../../shared/base/clock.ts';
import { StoreError } from '../../shared/model/store.ts';

/** One call of a port, counted over all of them from 1. */
export interface StoreCall {
  readonly method: string;
  readonly number: number;
}

/**
 * What happens to a call instead of what should: nothing is done, or all is done and the answer is lost, or it takes time,
 * or it is done again by itself later, as the official client does it with a commit, or it is done late, whoever waits.
 */
export type StoreFault =
  | 'conflict'
  | 'error-before'
  | 'error-after'
  | { readonly delayMillis: number }
  | { readonly againAfterMillis: number }
  | { readonly lateMillis: number };

/** The calls of a store in memory, and what becomes of each. */
export class StoreCalls {
  /** Decides over each call; by default every call is well. */
  fault: (call: StoreCall) => StoreFault | undefined = () => undefined;
  readonly made: StoreCall[] = [];
  readonly #clock: Clock;

  /** @param clock for delays. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** One call: it is counted, and the fault decides whether it is done and whether that is told. */
  async call<Result>(
    method: string,
    signal: AbortSignal,
    work: (fault: StoreFault | undefined) => Result,
  ): Promise<Result> {
    const call = { method, number: this.made.length + 1 };
    this.made.push(call);
    const fault = this.fault(call);
    if (signal.aborted) throw abortReason(signal);
    if (typeof fault === 'object' && 'lateMillis' in fault) {
      return this.#late(fault.lateMillis, signal, () => work(fault));
    }
    if (typeof fault === 'object' && 'delayMillis' in fault) await sleep(this.#clock, fault.delayMillis, signal);
    else await Promise.resolve();
    if (fault === 'error-before') throw new StoreError(method, 'UNAVAILABLE', 'injected, nothing done');
    const result = work(fault);
    if (fault === 'error-after') throw new StoreError(method, 'UNAVAILABLE', 'injected, all done');
    if (typeof fault === 'object' && 'againAfterMillis' in fault) {
      this.#clock.after(fault.againAfterMillis, () => {
        work(fault);
      });
    }
    return result;
  }

  /** It is done, however long that takes and whether or not somebody waits for it. */
  async #late<Result>(millis: number, signal: AbortSignal, work: () => Result): Promise<Result> {
    const done = Promise.withResolvers<Result>();
    this.#clock.after(millis, () => {
      done.resolve(work());
    });
    return abortable(done.promise, signal);
  }
}
