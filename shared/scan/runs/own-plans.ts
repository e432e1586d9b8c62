import { abortable } from '../../base/abort.ts';
import { sleep } from '../../base/clock.ts';
import { toError } from '../../base/errors.ts';
import { describeError } from '../../base/logging.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { OwnPlan } from './decide-run.ts';
import type { PlanRanges, RunReader } from './ports.ts';
import type { Run } from './run.ts';

export interface PlannerDependencies {
  readonly store: Pick<RunReader, 'readOptions'>;
  readonly planRanges: PlanRanges;
  /** Random: 16 hexadecimal digits. */
  readonly newPlanId: () => string;
  readonly runtime: Runtime;
}

/** Of a problem's text, in its run's document. */
const MAX_PROBLEM = 2_000;

/** A look waits so long for a table that is being asked where to cut; then the next tick looks. */
const PATIENCE_MILLIS = 3_000;

/**
 * The plans that one coordinator makes, for as long as its invocation lasts. A table is asked once for each run, beside the
 * ticks: that may take longer than one of them.
 */
export class OwnPlans {
  readonly #dependencies: PlannerDependencies;
  readonly #ended = new AbortController();
  readonly #plans = new Map<string, OwnPlan>();
  readonly #asking = new Map<string, Promise<void>>();

  constructor(dependencies: PlannerDependencies) {
    this.#dependencies = dependencies;
  }

  /** What is known by now of these runs, all of which are to be planned; a while is waited where nothing is. */
  async read(runs: readonly Run[], signal: AbortSignal): Promise<ReadonlyMap<string, OwnPlan>> {
    for (const run of runs) this.#ask(run);
    if (runs.some(({ id }) => this.#plans.has(id)) || runs.length === 0) return this.#plans;
    const patience = new AbortController();
    const asked = Promise.race(runs.flatMap(({ id }) => this.#asking.get(id) ?? []));
    const waited = sleep(this.#dependencies.runtime.clock, PATIENCE_MILLIS, patience.signal).catch(() => undefined);
    try {
      await abortable(Promise.race([asked, waited]), signal);
    } finally {
      patience.abort();
    }
    return this.#plans;
  }

  /** No table is asked any longer. */
  end(): void {
    this.#ended.abort(new Error('the invocation of the coordinator ended'));
  }

  #ask(run: Run): void {
    if (this.#plans.has(run.id) || this.#asking.has(run.id)) return;
    this.#asking.set(run.id, this.#plan(run));
  }

  async #plan(run: Run): Promise<void> {
    const { store, planRanges, newPlanId, runtime } = this.#dependencies;
    const { signal } = this.#ended;
    try {
      const options = await store.readOptions(run.id, signal);
      const plan = await planRanges(run, options, signal).then(
        (ranges): OwnPlan => ({ kind: 'ranges', id: newPlanId(), ranges }),
        (error: unknown): OwnPlan => ({ kind: 'failed', problem: toError(error).message.slice(0, MAX_PROBLEM) }),
      );
      // What ends with the invocation says nothing of the table.
      if (!signal.aborted) this.#plans.set(run.id, plan);
    } catch (error) {
      runtime.logger.log('WARNING', 'the options of a run were not read; the next tick reads them', {
        run: run.id,
        cause: describeError(error),
      });
    } finally {
      this.#asking.delete(run.id);
    }
  }
}
