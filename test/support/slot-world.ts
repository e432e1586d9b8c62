import type { Clock } from '../../shared/base/clock.ts';
import { closedBound, openBound, type RowRange } from '../../shared/model/row-range.ts';
import { type HeldSplit, NO_COUNTS, type Split, splitId, type SplitWrite } from '../../shared/scan/runs/split.ts';
import { bytesOfSplit, type SplitProgress, waitingSplit } from '../../shared/scan/runs/split-updates.ts';
import { splitClaims } from '../../shared/scan/runs/split-claims.ts';
import type { Plan, Run } from '../../shared/scan/runs/run.ts';
import { Claims } from '../../shared/slots/claims.ts';
import type { OpenedSlot } from '../../shared/slots/open-slot.ts';
import { openSlot } from '../../shared/slots/open-slot.ts';
import type { SlotSession } from '../../shared/slots/session.ts';
import { ManualClock } from './manual-clock.ts';
import { MemoryScanStore } from './memory-scan-store.ts';
import { testRuntime } from './runtime.ts';

export const RUN = 'run-1';
export const PLAN = 'abcdef0123456789';

const key = (text: string): Buffer => Buffer.from(text);

/** Keys of a split from a position on. */
export const rangeFrom = (start: string, end = 'z'): RowRange => ({
  start: closedBound(key(start)),
  end: openBound(key(end)),
});

/** How far a split is: `rows` rows before a key. */
export const progressTo = (start: string, rows: number): SplitProgress => ({
  range: rangeFrom(start),
  counts: { ...NO_COUNTS, rows },
});

export const waitingSplits = (count: number, since = 0, run = RUN, plan = PLAN): Split[] =>
  Array.from({ length: count }, (_, place) => ({
    id: splitId(plan, place),
    run,
    range: rangeFrom(`row-${place}`),
    counts: NO_COUNTS,
    failures: 0,
    state: { kind: 'waiting', since },
  }));

export type ScanSession = SlotSession<HeldSplit, SplitWrite>;

/** A planned run in memory and slots that read it, with time moved by hand. */
export class SlotWorld {
  readonly clock = new ManualClock();
  readonly store = new MemoryScanStore(this.clock);
  readonly runtime = testRuntime({ clock: this.clock });
  readonly ended = new AbortController();
  readonly plan: Plan;

  /** @param splits of the run, which wait from now on. */
  constructor(splits = 0) {
    this.plan = { id: PLAN, splits };
  }

  /** The run is there, with its splits. */
  async planned(): Promise<this> {
    const { signal } = this.ended;
    const startedAt = this.clock.now();
    const run: Run = { id: RUN, state: 'reading', startedAt, plan: this.plan, dead: [], isTold: false };
    const pipeline = { commits: 1, lease: { owner: '', epoch: 1, expiresAt: 0 } };
    await this.store.runs.start({ version: undefined, value: pipeline }, run, '{}', signal);
    const read = await this.store.coordinator.readPipeline(signal);
    const planned = waitingSplits(this.plan.splits, startedAt);
    const changes = { runs: [], planned, expiring: [], slots: [] };
    const next = { version: read?.version, value: { ...pipeline, commits: 2 } };
    await this.store.coordinator.commit({ pipeline: next, changes }, signal);
    return this;
  }

  dependencies(clock: Clock = this.clock) {
    const runtime = clock === this.clock ? this.runtime : testRuntime({ clock });
    return { store: this.store.slots, giveBack: waitingSplit, runtime };
  }

  /** Moves time until a promise is settled. */
  async until<Result>(promise: Promise<Result>, mostMillis = 600_000): Promise<Result> {
    const settled = new AbortController();
    promise
      .catch(() => undefined)
      .finally(() => {
        settled.abort();
      });
    const latest = this.clock.now() + mostMillis;
    await this.clock.advance(0);
    while (!settled.signal.aborted && this.clock.now() < latest) await this.clock.advance(100);
    if (!settled.signal.aborted) throw new Error(`not settled after ${mostMillis} ms`);
    return promise;
  }

  open(slot: number, owner: string, signal = this.ended.signal): Promise<OpenedSlot<HeldSplit, SplitWrite>> {
    return this.until(openSlot(slot, owner, this.dependencies(), signal));
  }

  /** @throws where it is held. */
  async take(slot: number, owner: string, signal?: AbortSignal): Promise<ScanSession> {
    const opened = await this.open(slot, owner, signal);
    if (opened.kind === 'held') throw new Error(`held by ${opened.by}`);
    return opened.session;
  }

  claims(session: ScanSession, parallelism = 1) {
    const options = { parallelism, bytesOf: bytesOfSplit };
    const claims = new Claims(options, session, this.dependencies());
    const source = splitClaims(RUN, this.plan, { store: this.store.slots, clock: this.clock });
    return (wanted: number) => this.until(claims.look(source, { wanted, concurrent: wanted }, this.ended.signal));
  }

  split(place: number): Split | undefined {
    return this.store.splitsOf(RUN).find(({ id }) => id === splitId(PLAN, place));
  }
}
