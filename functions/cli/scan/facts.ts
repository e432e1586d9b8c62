import { formatRange } from '../../../shared/model/row-range.ts';
import { type FrozenRun, readRunOptions } from '../../../shared/scan/run-options.ts';
import { readRunStatus, type RunStatus } from '../../../shared/scan/runs/run-status.ts';
import type { HeldSplit } from '../../../shared/scan/runs/split.ts';
import { type Figures, figuresOf, isUnattended, type Seen } from './figures.ts';
import type { OpenedScan } from './pipeline.ts';
import { fixOf, withoutKeys } from './problem.ts';

/** What is shown of a run, for people and as JSON. */
export interface ScanFacts extends Figures {
  readonly pipeline: string;
  /** Without what must not be shown. */
  readonly status: RunStatus;
  readonly now: number;
  readonly isUnattended: boolean;
  /** Whether ranges and keys are shown. */
  readonly hasRanges: boolean;
  /** Of every problem that people can fix, by its text as it is shown. */
  readonly fixes: ReadonlyMap<string, { readonly cause: string; readonly fix: string }>;
}

export type ReadFacts = (
  id: string,
  now: number,
  before: Seen | undefined,
  signal: AbortSignal,
) => Promise<ScanFacts | undefined>;

/**
 * Reads what is shown of a run. What it goes by never changes, so that it is read once, and only when a problem is there.
 *
 * @param hasRanges whether row keys may be shown, as bounds of ranges and where a problem names one.
 */
export function factsReader({ name, runs }: OpenedScan, hasRanges: boolean): ReadFacts {
  const frozen = new Map<string, Promise<FrozenRun | undefined>>();
  const frozenOf = (id: string, signal: AbortSignal): Promise<FrozenRun | undefined> => {
    const known = frozen.get(id) ?? runs.readOptions(id, signal).then(readableOptions);
    frozen.set(id, known);
    return known;
  };
  return async (id, now, before, signal) => {
    const status = await readRunStatus(id, runs, signal);
    if (!status) return undefined;
    const problems = problemsOf(status);
    const place = { pipeline: name, run: id, frozen: problems.length > 0 ? await frozenOf(id, signal) : undefined };
    const shown = hasRanges ? (problem: string) => problem : withoutKeys;
    const fixes = problems.flatMap((problem) => {
      const fix = fixOf(problem, place);
      return fix ? [[shown(problem), fix] as const] : [];
    });
    return {
      ...{ pipeline: name, status: hasRanges ? status : statusWithoutKeys(status), now, hasRanges },
      isUnattended: isUnattended(status, now),
      ...figuresOf(status, now, before),
      fixes: new Map(fixes),
    };
  };
}

/** Undefined where they are of a newer format: the problem is shown all the same. */
function readableOptions(text: string): FrozenRun | undefined {
  try {
    return readRunOptions(text);
  } catch {
    return undefined;
  }
}

const problemsOf = ({ run, slots, failing }: RunStatus): string[] =>
  [run, ...failing, ...slots.flatMap(({ splits }) => Object.values(splits))].flatMap(({ problem }) => problem ?? []);

const keyless = <Place extends { readonly problem?: string }>(place: Place): Place =>
  place.problem === undefined ? place : { ...place, problem: withoutKeys(place.problem) };

const statusWithoutKeys = ({ run, slots, failing, ...status }: RunStatus): RunStatus => ({
  ...status,
  run: keyless(run),
  slots: slots.map(({ splits, ...slot }) => ({
    ...slot,
    splits: Object.fromEntries(Object.entries(splits).map(([id, held]) => [id, keyless(held)])),
  })),
  failing: failing.map(keyless),
});

/** As JSON: ranges as texts, where they are shown. */
export function factsAsJson({
  pipeline,
  status,
  now,
  isUnattended: isAlone,
  hasRanges,
  fixes,
  ...figures
}: ScanFacts): string {
  const { run, splits, counts, slots, failing } = status;
  const { id, state, startedAt, plan, readingSince, endedAt, totals, problem, isTold } = run;
  const withFix = (text: string | undefined): object =>
    text === undefined ? {} : { problem: text, ...fixes.get(text) };
  const split = (unit: string, { range, counts: own, failures, problem: why }: HeldSplit): object => ({
    id: unit,
    ...(hasRanges && { range: formatRange(range) }),
    counts: own,
    failures,
    ...withFix(why),
  });
  const shown = {
    ...{ pipeline, now },
    run: { id, state, startedAt, plan, readingSince, endedAt, totals, isTold, ...withFix(problem) },
    ...{ splits, counts, ...figures, isUnattended: isAlone },
    slots: slots.map(({ splits: units, ...slot }) => ({
      ...slot,
      splits: Object.entries(units).map(([unit, held]) => split(unit, held)),
    })),
    failing: failing.map((each) => ({ ...split(each.id, each), state: each.state })),
  };
  return JSON.stringify(shown, undefined, 2);
}
