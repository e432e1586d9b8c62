import { describeError } from '../../base/logging.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { RowRange } from '../../model/row-range.ts';
import { STATUSES } from '../../model/status.ts';
import { coveredBy, type Ledger } from '../ledger/ledger.ts';
import { gapsOf } from '../ledger/reconcile.ts';
import { formatNanos, RETENTION_FRESH_MILLIS } from '../ledger/retention.ts';
import { type ResolvedStart, resolveStart, type StartPosition, StartPositionError } from '../ledger/start-position.ts';
import type { ChangeStreamCoordinatorStore, ListServicePartitions, LookAtTable, TableLook } from '../ports.ts';
import { StreamFailedError } from '../reading/ports.ts';
import type { Retention, Source } from '../source.ts';
import { Asking } from './asking.ts';
import { isToStart, type SourceView } from './decide-source.ts';
import type { AskedSource } from './source-step.ts';
import type { SourceWatch } from './source-watch.ts';
import type { StartPlan } from './start-plan.ts';

export interface SourceReaderDependencies {
  readonly store: ChangeStreamCoordinatorStore;
  readonly asked: AskedSource;
  /** Where a source starts that was never started. */
  readonly start: StartPosition;
  readonly lookAtTable: LookAtTable;
  readonly listPartitions: ListServicePartitions;
  /** Of the instance: measures what is read. */
  readonly watch: SourceWatch;
  readonly runtime: Runtime;
}

/** A source that is stopped is tried again so often, and the ledger is read for what it measures. */
const MINUTE_MILLIS = 60_000;

/** Documents that are cleaned up in one commit. */
const MAX_CLEANED = 400;

/**
 * What a coordinator reads of a source, and asks of the service, to decide on its next step. For one invocation.
 *
 * What must stay true: the service's partitions are told before the ledger is read that they are held against.
 */
export class SourceReader {
  readonly #deps: SourceReaderDependencies;
  readonly #service: Asking<readonly RowRange[]>;
  readonly #table: Asking<TableLook>;
  /** Of a start. Begun: a commit with it has happened, so that what is written of its generation is its own. */
  #plan: { readonly plan: StartPlan; readonly isBegun: boolean } | undefined;
  /** The ledger as it was read last. */
  #known: { readonly ledger: Ledger; readonly at: number } | undefined;
  #lookedAt = -Infinity;
  readonly #told = new Set<string>();

  constructor(deps: SourceReaderDependencies) {
    this.#deps = deps;
    this.#service = new Asking(deps.listPartitions, deps.runtime.clock);
    this.#table = new Asking(deps.lookAtTable, deps.runtime.clock);
  }

  /** A commit has happened. @param isMoved with it the topology. */
  committed(source: Source, isMoved: boolean): void {
    if (source.status !== 'starting') this.#plan = undefined;
    else if (this.#plan) this.#plan = { ...this.#plan, isBegun: true };
    if (isMoved) this.#known = undefined;
  }

  /** Nothing is asked any longer. */
  end(): void {
    this.#service.end();
    this.#table.end();
  }

  async read(source: Source | undefined, now: number, signal: AbortSignal): Promise<SourceView> {
    const dead = await this.#readDead(source, signal);
    if (source?.status === 'paused') {
      // Measured all the same: what stands still comes near to what the service forgets.
      await this.#readLedger(source, undefined, now, signal);
      return dead;
    }
    if (source?.status === 'done')
      return { ...dead, completed: await this.#deps.store.readCompleted(source.generation, MAX_CLEANED, signal) };
    if (isToStart(source)) return { ...dead, ...(await this.#readStart(source, now, signal)) };
    if (source?.status === 'stopped') {
      await this.#readLedger(source, undefined, now, signal);
      return { ...dead, ...(await this.#readAgain(source, now, signal)) };
    }
    return { ...dead, ...(source && (await this.#readAll(source, now, signal))) };
  }

  /** A source that was never read: what it begins with, or why it cannot. */
  async #readStart(source: Source | undefined, now: number, signal: AbortSignal): Promise<SourceView> {
    const plan = this.#planFor(source);
    if (plan) return { plan };
    this.#plan = undefined;
    if (source?.status === 'stopped' && now - this.#lookedAt < MINUTE_MILLIS) return {};
    const facts = await this.#readTable(signal);
    if (!facts) return {};
    this.#lookedAt = now;
    if (facts.problem !== undefined) return facts;
    const { problem, partitions } = await this.#readService(signal);
    if (problem !== undefined) return { problem };
    return partitions ? this.#planned(source, partitions, facts.retention, now) : {};
  }

  /** The own one: its generation is still free, or what is written of that is its own. */
  #planFor(source: Source | undefined): StartPlan | undefined {
    if (!this.#plan) return undefined;
    const { plan, isBegun } = this.#plan;
    const generation = source?.generation ?? 0;
    const isOurs = isBegun
      ? source?.status === 'starting' && plan.generation === generation
      : plan.generation === generation + 1;
    return isOurs ? plan : undefined;
  }

  #planned(
    source: Source | undefined,
    ranges: readonly RowRange[],
    retention: Retention | undefined,
    now: number,
  ): SourceView {
    if (ranges.length === 0)
      return { problem: 'the service names no partition of the table: look whether it has a change stream' };
    const generation = (source?.generation ?? 0) + 1;
    try {
      const { startTime, clamped } = resolveStart(this.#deps.start, now, retention?.millis);
      if (clamped) this.#tellClamped(clamped);
      const plan = { generation, startTime, ranges, ...(retention && { retention }) };
      this.#plan = { plan, isBegun: false };
      return { plan };
    } catch (error) {
      if (error instanceof StartPositionError) return { problem: error.message };
      throw error;
    }
  }

  #tellClamped({ requested, earliest, lostMillis }: NonNullable<ResolvedStart['clamped']>): void {
    const words = 'the source starts later than it was asked to: the service does not keep what came before';
    const fields = { requested: formatNanos(requested), earliest: formatNanos(earliest), lostMillis };
    this.#deps.runtime.logger.log('WARNING', words, fields);
  }

  /** A source that is stopped: whether what stopped it is gone. */
  async #readAgain(source: Source, now: number, signal: AbortSignal): Promise<SourceView> {
    if (now - this.#lookedAt < MINUTE_MILLIS) return {};
    const facts = await this.#readTable(signal);
    if (!facts) return {};
    this.#lookedAt = now;
    if (facts.problem !== undefined) return facts;
    const { problem, partitions } = await this.#readService(signal);
    if (problem !== undefined) return { problem };
    return { ...facts, ...(partitions && { isClear: true }) };
  }

  async #readAll(source: Source, now: number, signal: AbortSignal): Promise<SourceView> {
    const answer = await this.#readService(signal);
    const freshest = Math.max(this.#lookedAt, source.retention?.fetchedAt ?? -Infinity);
    const isLook = now - freshest >= RETENTION_FRESH_MILLIS || answer.problem !== undefined;
    const facts = isLook ? await this.#readTable(signal) : undefined;
    if (facts) this.#lookedAt = now;
    const problem = facts?.problem ?? answer.problem;
    if (problem !== undefined) return { problem };
    const { partitions } = answer;
    const ledger = await this.#readLedger(source, partitions, now, signal);
    if (!ledger || !partitions) return { ...facts };
    const isNewGap =
      gapsOf(partitions, [...coveredBy(ledger), ...ledger.missing.map(({ value }) => value.range)]).length > 0;
    const done = isNewGap ? await this.#deps.store.readDone(source.generation, signal) : [];
    return { ...facts, scan: { service: partitions, ledger, done } };
  }

  /** Undefined where everything is as it was: nobody moved the topology, no gap shows, and it was measured within the minute. */
  async #readLedger(
    { generation }: Source,
    partitions: readonly RowRange[] | undefined,
    now: number,
    signal: AbortSignal,
  ): Promise<Ledger | undefined> {
    const known = this.#known;
    if (known && now - known.at < MINUTE_MILLIS) {
      const { ledger } = known;
      const isGap = ledger.missing.length > 0 || gapsOf(partitions ?? [], coveredBy(ledger)).length > 0;
      const { number } = isGap ? { number: Number.NaN } : await this.#deps.store.readTopology(signal);
      if (number === ledger.topology.number) return undefined;
    }
    const ledger = await this.#deps.store.readLedger(generation, signal);
    this.#known = { ledger, at: now };
    this.#deps.watch.seesLedger(ledger, now);
    return ledger;
  }

  async #readDead(source: Source | undefined, signal: AbortSignal): Promise<Pick<SourceView, 'dead'>> {
    const generation = source?.dead[0];
    if (generation === undefined) return {};
    const ids = await this.#deps.store.readDead(generation, MAX_CLEANED, signal);
    return { dead: { generation, ids, isAll: ids.length < MAX_CLEANED } };
  }

  /** Undefined where it is not known. */
  async #readTable(signal: AbortSignal): Promise<SourceView | undefined> {
    const answer = await this.#table.read(signal);
    if (answer.kind === 'asking') return undefined;
    if (answer.kind === 'failed') {
      this.#deps.runtime.logger.log('WARNING', 'the table was not looked at; the next look is soon', {
        cause: describeError(answer.error),
      });
      return undefined;
    }
    return this.#factsOf(answer.value);
  }

  #factsOf({ problems, warnings, retentionMillis }: TableLook): SourceView {
    for (const warning of warnings) {
      if (!this.#told.has(warning)) this.#deps.runtime.logger.log('WARNING', warning);
      this.#told.add(warning);
    }
    if (problems.length > 0) return { problem: problems.join('; ') };
    return retentionMillis === undefined
      ? {}
      : { retention: { millis: retentionMillis, fetchedAt: this.#deps.runtime.clock.now() } };
  }

  async #readService(
    signal: AbortSignal,
  ): Promise<{ readonly partitions?: readonly RowRange[]; readonly problem?: string }> {
    const answer = await this.#service.read(signal);
    if (answer.kind === 'told') return { partitions: answer.value };
    if (answer.kind === 'asking') return {};
    if (isOfTable(answer.error)) return { problem: answer.error.message };
    this.#deps.runtime.logger.log(
      'WARNING',
      'the partitions of the service were not told; timers go on, and the next look is soon',
      {
        cause: describeError(answer.error),
      },
    );
    return {};
  }
}

/** The stream is off, the table is gone, a right is missing: nothing changes before somebody acts. */
const isOfTable = (error: Error): boolean =>
  error instanceof StreamFailedError &&
  (STATUSES[error.status.code].blamesSetup || error.status.code === 'FAILED_PRECONDITION');
