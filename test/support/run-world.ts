import type { Clock } from '../../shared/base/clock.ts';
import { createTicks, type Ticks } from '../../shared/coordinator/tick.ts';
import { prefixRange, type RowRange } from '../../shared/model/row-range.ts';
import type { AnnounceEnd, PlanRanges } from '../../shared/scan/runs/ports.ts';
import type { Run } from '../../shared/scan/runs/run.ts';
import { RunsWatch } from '../../shared/scan/runs/runs-watch.ts';
import { scanDecider } from '../../shared/scan/runs/scan-decider.ts';
import { startRun } from '../../shared/scan/runs/start-run.ts';
import { heldOf, placeOf } from '../../shared/scan/runs/split.ts';
import { finishSplit, heldSplit } from '../../shared/scan/runs/split-updates.ts';
import { testRuntime } from './runtime.ts';
import { progressTo, type ScanSession, SlotWorld } from './slot-world.ts';

/** So many ranges in the order of their keys. */
export const rangesOf = (count: number): RowRange[] =>
  Array.from({ length: count }, (_, place) => prefixRange(Buffer.from(`prefix-${String(place).padStart(6, '0')}`)));

/** Runs of one pipeline in memory, their coordinators and their slots, with time moved by hand. */
export class RunWorld extends SlotWorld {
  /** Every table that was asked where to cut, by its run. */
  readonly asked: string[] = [];
  readonly announced: Run[] = [];
  ranges: PlanRanges = () => Promise.resolve(rangesOf(3));
  announce: AnnounceEnd = () => Promise.resolve();
  readonly watch = new RunsWatch(4, this.runtime.metrics);
  #coordinators = 0;
  #plans = 0;

  /** A new invocation, of `coordinate` or of a slot. */
  coordinator(clock: Clock = this.clock): Ticks {
    this.#coordinators += 1;
    const store = this.store.coordinator;
    const decider = scanDecider('exports', {
      store,
      planRanges: (run, options, signal) => {
        this.asked.push(run.id);
        return this.ranges(run, options, signal);
      },
      announce: async (run, options, signal) => {
        await this.announce(run, options, signal);
        this.announced.push(run);
      },
      newPlanId: () => (this.#plans += 1).toString(16).padStart(16, '0'),
      runtime: testRuntime({ clock, metrics: this.runtime.metrics }),
      watch: this.watch,
    });
    return createTicks(decider, { store, clock, owner: `coordinator-${this.#coordinators}` });
  }

  async tick(coordinator: Ticks) {
    return this.until(coordinator.tick(this.ended.signal));
  }

  async start(id: string, concurrentRuns: 'refuse' | 'allow' = 'refuse') {
    const request = { id, options: () => `{"run":${JSON.stringify(id)}}`, concurrentRuns };
    return this.until(startRun(request, { store: this.store.runs, clock: this.clock }, this.ended.signal));
  }

  run(id: string): Run {
    const run = this.store.run(id);
    if (!run) throw new Error(`no run ${id}`);
    return run;
  }

  /** A slot claims a split that waits: the first in turn, or the one at a place. Its id. */
  async claim(session: ScanSession, run: string, place?: number): Promise<string> {
    const { plan } = this.run(run);
    if (!plan) throw new Error(`${run} has no plan`);
    const waiting = await this.store.slots.readWaiting(run, plan, this.clock.now(), plan.splits, this.ended.signal);
    const found = waiting.find(({ split }) => place === undefined || placeOf(split.id) === place);
    if (!found) throw new Error(`split ${place ?? ''} of ${run} does not wait`);
    const { split, version } = found;
    const { id } = split;
    const changes = [{ split: heldSplit(split, session.slot, session.epoch), version }];
    const edit = (units: ScanSession['units']) => ({ units: { ...units, [id]: heldOf(split) }, changes });
    await this.until(session.update({ isClaim: true, edit }));
    return id;
  }

  /** A slot that claims so many splits of a run and finishes them, `rows` rows each. */
  async finish(run: string, count: number, rows = 10): Promise<void> {
    const session = await this.take(0, `reader-${this.store.calls.length}`);
    for (let finished = 0; finished < count; finished += 1) {
      const id = await this.claim(session, run);
      await this.until(session.update(finishSplit(id, progressTo('z', rows))));
    }
    await this.until(session.release());
  }

  /** A run that is started goes on to its end. */
  async readAll(run: string): Promise<void> {
    const coordinator = this.coordinator();
    await this.tick(coordinator);
    await this.finish(run, this.run(run).plan?.splits ?? 0);
    await this.tick(coordinator);
    await this.until(coordinator.release(this.ended.signal));
  }
}
