import { formatRange } from '../../../shared/model/row-range.ts';
import { countsByRange, type RangeCounts } from '../../../shared/scan/count-ranges.ts';
import { type FrozenRun, readRunOptions } from '../../../shared/scan/run-options.ts';
import { readRunStatus, type RunStatus } from '../../../shared/scan/runs/run-status.ts';
import { isUnderWay } from '../../../shared/scan/runs/run.ts';
import { type HeldSplit, type Split, splitId } from '../../../shared/scan/runs/split.ts';
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
  /** Of a run of the form `count` that has ended, where ranges are shown: what each range and prefix holds. */
  readonly rangeCounts?: readonly RangeCounts[];
}

export type ReadFacts = (
  id: string,
  now: number,
  before: Seen | undefined,
  signal: AbortSignal,
) => Promise<ScanFacts | undefined>;

/**
 * Reads what is shown of a run. What it goes by never changes, so that it is read once, and only when a problem is there
 * or the run has ended.
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
    // While the run goes on, every look would read the documents of all splits.
    const rangeCounts =
      hasRanges && !isUnderWay(status.run) ? await rangeCountsOf(status, await frozenOf(id, signal), runs, signal) : [];
    return {
      ...(rangeCounts.length > 0 && { rangeCounts }),
      ...{ pipeline: name, status: hasRanges ? status : statusWithoutKeys(status), now, hasRanges },
      isUnattended: isUnattended(status, now),
      ...figuresOf(status, now, before),
      fixes: new Map(fixes),
    };
  };
}

/** As many documents as one read of Firestore takes without trouble. */
const SPLITS_AT_ONCE = 500;

/** By the splits' own documents, which hold everything once the run has ended. Empty for other forms. */
async function rangeCountsOf(
  { run }: RunStatus,
  frozen: FrozenRun | undefined,
  runs: OpenedScan['runs'],
  signal: AbortSignal,
): Promise<readonly RangeCounts[]> {
  const { plan } = run;
  if (!frozen?.counted || !plan) return [];
  const splits: Split[] = [];
  for (let first = 0; first < plan.splits; first += SPLITS_AT_ONCE) {
    const length = Math.min(SPLITS_AT_ONCE, plan.splits - first);
    const ids = Array.from({ length }, (_, at) => splitId(plan.id, first + at));
    splits.push(...(await runs.readSplits(run.id, ids, signal)));
  }
  // Some have expired: what is left is no count of anything.
  return splits.length === plan.splits ? countsByRange(frozen.counted, splits) : [];
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
  rangeCounts,
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
    ...(rangeCounts && {
      rangeCounts: rangeCounts.map(({ range, ...own }) => ({ range: formatRange(range), ...own })),
    }),
  };
  return JSON.stringify(shown, undefined, 2);
}
