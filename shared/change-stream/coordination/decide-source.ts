import { isReadToEnd } from '../ledger/ledger.ts';
import type { Partition } from '../ledger/partition.ts';
import { changedEndProblem } from '../ledger/changed-end.ts';
import { reconcile, type Scan } from '../ledger/reconcile.ts';
import { keptMillis } from '../ledger/retention.ts';
import type { LedgerWrite } from '../ledger/writes.ts';
import type { Versioned } from '../../model/store.ts';
import type { Retention, Source } from '../source.ts';
import { startStep, type StartPlan } from './start-plan.ts';
import type { AskedSource, SourceEvent, SourceStep } from './source-step.ts';

/** The next step of a source: what was read and the time in, one commit out. Pure. */

/** What was read. Absent: not by this look. */
export interface SourceView {
  /** Where it is to be started: by whom it is. */
  readonly plan?: StartPlan;
  /** What holds for the whole table. */
  readonly problem?: string;
  /** The table was looked at, and nothing holds it up. */
  readonly isClear?: boolean;
  readonly retention?: Retention;
  readonly scan?: Pick<Scan, 'service' | 'ledger' | 'done'>;
  /** Partitions of a run that is done which are kept forever so far. */
  readonly completed?: readonly Versioned<Partition>[];
  /** Partitions that an earlier start left, by its generation: all that are left of it where `isAll`. */
  readonly dead?: { readonly generation: number; readonly ids: readonly string[]; readonly isAll: boolean };
}

/** Retention is noted anew after so long, although it is the same: readers go by how old it is. */
const NOTE_RETENTION_MILLIS = 4 * 60_000;

/** One that nobody has written yet. */
export const newSource = ({ options }: AskedSource): Source => ({
  ...{ commits: 0, status: 'starting', generation: 0, options, dead: [] },
});

/** Whether its partitions are still to be made. */
export const isToStart = (source: Source | undefined): boolean =>
  !source || source.status === 'starting' || (source.status === 'stopped' && source.startTime === undefined);

/** Undefined: nothing is to be done now. */
export function stepOf(
  before: Source | undefined,
  view: SourceView,
  asked: AskedSource,
  now: number,
): SourceStep | undefined {
  const source = before ?? newSource(asked);
  if (source.status === 'paused') return cleanStep(source, view);
  if (source.status === 'done')
    return endProblemStep(source, asked) ?? keepStep(source, view, now) ?? cleanStep(source, view);
  const problem = view.problem ?? endProblem(source, asked);
  if (problem !== undefined) return stoppedStep(source, problem);
  if (isToStart(source)) return view.plan && startStep(source, view.plan, asked, now);
  if (source.status === 'stopped')
    return view.isClear ? step('resumed', withoutProblem(source, 'reading'), { hasMore: true }) : undefined;
  return reconcileStep(source, view, now) ?? endStep(source, view) ?? noteStep(source, view) ?? cleanStep(source, view);
}

const step = (event: SourceEvent, source: Source, others: Partial<SourceStep> = {}): SourceStep => ({
  ...{ event, source, changes: [], hasMore: false },
  ...others,
});

function withoutProblem(source: Source, status: Source['status']): Source {
  const { commits, generation, options, startTime, endTime, retention, written, dead } = source;
  return {
    ...{ commits, status, generation, options, dead },
    ...(startTime !== undefined && { startTime }),
    ...(endTime !== undefined && { endTime }),
    ...(retention && { retention }),
    ...(written !== undefined && { written }),
  };
}

const endProblem = (source: Source, { endTime }: AskedSource): string | undefined =>
  isToStart(source) ? undefined : changedEndProblem(source.endTime, endTime);

const stoppedStep = (source: Source, problem: string): SourceStep | undefined =>
  source.status === 'stopped' && source.problem === problem
    ? undefined
    : step('stopped', { ...source, status: 'stopped', problem });

/** Of a run that is done: it stays so, and says why nothing more is read. */
function endProblemStep(source: Source, { endTime }: AskedSource): SourceStep | undefined {
  const problem = changedEndProblem(source.endTime, endTime);
  if (problem === source.problem) return undefined;
  return step('noted', problem === undefined ? withoutProblem(source, 'done') : { ...source, problem });
}

/** With the version of the topology that was read: of what changed meanwhile nothing was decided. */
function reconcileStep(source: Source, { scan, retention }: SourceView, now: number): SourceStep | undefined {
  if (!scan || source.startTime === undefined) return undefined;
  const millis = (retention ?? source.retention)?.millis;
  const reconciliation = reconcile({
    ...scan,
    ...{ generation: source.generation, startTime: source.startTime, now },
    ...(millis !== undefined && { retentionMillis: millis }),
  });
  if (reconciliation.writes.length === 0) return undefined;
  return step('reconciled', source, { changes: reconciliation.writes, reconciliation });
}

/** Nothing waits, is held, parked or missing, and the topology is still so when it is written: once. */
function endStep(source: Source, { scan }: SourceView): SourceStep | undefined {
  if (source.endTime === undefined || !scan || !isReadToEnd(scan.ledger)) return undefined;
  const changes = [{ kind: 'topology-moved-from', version: scan.ledger.topology.version }] as const;
  return step('done', { ...source, status: 'done' }, { changes, hasMore: true });
}

/** How long changes are kept: readers go by it. */
function noteStep(source: Source, { retention }: SourceView): SourceStep | undefined {
  if (!retention) return undefined;
  const { millis, fetchedAt } = source.retention ?? { millis: Number.NaN, fetchedAt: 0 };
  if (millis === retention.millis && retention.fetchedAt - fetchedAt < NOTE_RETENTION_MILLIS) return undefined;
  return step('noted', { ...source, retention });
}

/** Partitions of a run that is done are kept as long as others, from then on. */
function keepStep(source: Source, { completed = [] }: SourceView, now: number): SourceStep | undefined {
  if (completed.length === 0) return undefined;
  const keptUntil = now + keptMillis(source.retention?.millis);
  const changes = completed.map(({ value, version }): LedgerWrite => ({
    ...{ kind: 'partition', version },
    partition: { ...value, state: { kind: 'completed', keptUntil } },
  }));
  return step('cleaned', source, { changes, hasMore: true });
}

/** What a start left that did not come to its end. */
function cleanStep(source: Source, { dead }: SourceView): SourceStep | undefined {
  if (!dead) return undefined;
  const changes = dead.ids.map((id): LedgerWrite => ({ kind: 'partition-gone', id }));
  const left = dead.isAll ? source.dead.filter((generation) => generation !== dead.generation) : source.dead;
  return step('cleaned', { ...source, dead: left }, { changes });
}
