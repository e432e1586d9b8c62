import { textTable } from '../../../shared/base/text-table.ts';
import { formatRange } from '../../../shared/model/row-range.ts';
import type { RangeCounts } from '../../../shared/scan/count-ranges.ts';
import type { RunStatus, SlotStatus } from '../../../shared/scan/runs/run-status.ts';
import { isUnderWay } from '../../../shared/scan/runs/run.ts';
import type { Split } from '../../../shared/scan/runs/split.ts';
import { ago, counted, duration, formatTime, grouped, indented, size } from '../amounts.ts';
import type { ScanFacts } from './facts.ts';

/** The report of a run as lines of text. Pure. */
export function scanReport(facts: ScanFacts): string {
  const { status, isUnattended } = facts;
  const { run, slots, failing } = status;
  return [
    headText(facts),
    ...(isUnattended
      ? ['  no slot works on it: are the scheduler jobs of readScan there, and not paused? What do its logs say?']
      : []),
    ...(run.problem === undefined ? [] : problemLines(run.problem, facts)),
    ...(run.plan ? [`  ${splitsText(status)}`, `  ${countsText(status)}`, `  ${skippedText(status)}`] : []),
    ...paceLines(facts),
    ...(isUnderWay(run) && slots.length > 0 ? [indented(slotTable(slots))] : []),
    ...heldLines(facts),
    ...failing.flatMap((split) => failingLines(split, facts)),
    ...(facts.rangeCounts ? [indented(rangeTable(facts.rangeCounts))] : []),
  ].join('\n');
}

/** One line while somebody waits. */
export function progressLine({ status, rowsPerSecond, remainingMillis }: ScanFacts): string {
  const { run, splits, counts } = status;
  if (!run.plan) return `run ${run.id} is being planned`;
  return [
    `${bar(splits)} ${grouped(splits.done)} of ${counted(splits.total, 'split')}`,
    counted(counts.rows, 'row'),
    ...(rowsPerSecond === undefined ? [] : [`${grouped(rowsPerSecond)}/s`]),
    ...(remainingMillis === undefined ? [] : [`about ${duration(remainingMillis)} left`]),
  ].join(', ');
}

function headText({ pipeline, status: { run }, now }: ScanFacts): string {
  const { id, state, startedAt, endedAt, plan, isTold } = run;
  const took = endedAt === undefined ? '' : `, took ${duration(endedAt - startedAt)}`;
  const told = state === 'done' && !isTold ? '; its topic is not told yet' : '';
  const planned = plan ? `, plan ${plan.id}` : '';
  return `${pipeline}: run ${id} ${stateText(state)}, started ${formatTime(startedAt)} (${ago(startedAt, now)})${took}${planned}${told}`;
}

const stateText = (state: RunStatus['run']['state']): string =>
  state === 'planning' ? 'is being planned' : `is ${state}`;

const BAR_WIDTH = 40;

/** Splits that are done, being read and still to be read; `×` those that failed. */
function bar({ total, done, failed, held }: RunStatus['splits']): string {
  const until = (count: number): number => (total === 0 ? 0 : Math.floor((count / total) * BAR_WIDTH));
  // What is there is seen: a split of thousands as well.
  const failedWidth = failed === 0 ? 0 : Math.max(1, until(failed));
  const doneWidth = Math.min(until(done), BAR_WIDTH - failedWidth);
  const heldWidth = Math.min(held === 0 ? 0 : Math.max(1, until(held)), BAR_WIDTH - failedWidth - doneWidth);
  const rest = BAR_WIDTH - failedWidth - doneWidth - heldWidth;
  return `[${'█'.repeat(doneWidth)}${'▒'.repeat(heldWidth)}${'·'.repeat(rest)}${'×'.repeat(failedWidth)}]`;
}

function splitsText({ splits }: RunStatus): string {
  const { total, done, failed, held, waiting } = splits;
  const failedText = failed === 0 ? '' : `, ${grouped(failed)} failed`;
  return `${bar(splits)} ${grouped(done)} of ${counted(total, 'split')} done, ${grouped(held)} being read, ${grouped(waiting)} waiting${failedText}`;
}

const countsText = ({ counts: { rows, cells, bytes, messages } }: RunStatus): string =>
  `${counted(rows, 'row')}, ${counted(cells, 'cell')}, ${size(bytes)} read; ${counted(messages, 'message')} published`;

const skippedText = ({ counts: { skipped, quarantined } }: RunStatus): string =>
  `${counted(skipped, 'row')} skipped, ${grouped(quarantined)} in quarantine`;

function paceLines({ rowsPerSecond, bytesPerSecond, remainingMillis }: ScanFacts): string[] {
  const rate =
    rowsPerSecond === undefined || bytesPerSecond === undefined
      ? []
      : [`${grouped(rowsPerSecond)} rows/s, ${size(bytesPerSecond)}/s`];
  const left = remainingMillis === undefined ? [] : [`about ${duration(remainingMillis)} left, by splits`];
  const all = [...rate, ...left];
  return all.length === 0 ? [] : [`  ${all.join('; ')}`];
}

const slotTable = (slots: readonly SlotStatus[]): string =>
  textTable([
    ['SLOT', 'OWNER', 'EPOCH', 'LEASE', 'SPLITS', 'ROWS'],
    ...slots.map(({ slot, owner, epoch, leaseMillis, splits }) => [
      String(slot),
      owner === '' ? 'nobody' : owner,
      String(epoch),
      owner === '' ? '' : leaseMillis > 0 ? `for ${duration(leaseMillis)} more` : 'ran out',
      String(Object.keys(splits).length),
      grouped(Object.values(splits).reduce((sum, { counts }) => sum + counts.rows, 0)),
    ]),
  ]);

const rangeTable = (counts: readonly RangeCounts[]): string =>
  textTable([
    ['RANGE', 'ROWS', 'CELLS', 'BYTES'],
    ...counts.map(({ range, rows, cells, bytes }) => [formatRange(range), grouped(rows), grouped(cells), size(bytes)]),
  ]);

/** Of each slot; a slot has hundreds where ranges are small. */
const MOST_RANGES = 4;

/** What is left of the splits that slots have. */
function heldLines({ status: { run, slots }, hasRanges }: ScanFacts): string[] {
  if (!hasRanges || !isUnderWay(run)) return [];
  return slots.flatMap(({ slot, splits }) => {
    const ranges = Object.values(splits).map(({ range }) => formatRange(range));
    if (ranges.length === 0) return [];
    const more = ranges.length > MOST_RANGES ? `, and ${grouped(ranges.length - MOST_RANGES)} more` : '';
    return [`  slot ${slot} has still to read ${ranges.slice(0, MOST_RANGES).join(', ')}${more}`];
  });
}

function failingLines(split: Split, facts: ScanFacts): string[] {
  const { id, state, failures, range, problem } = split;
  const where = facts.hasRanges ? ` ${formatRange(range)}` : '';
  const next =
    state.kind === 'failed'
      ? '; it is not tried again'
      : state.kind === 'waiting' && state.since > facts.now
        ? `; it is tried again in ${duration(state.since - facts.now)}`
        : '';
  return [
    `  split ${id}${where} failed ${failures === 1 ? 'once' : `${failures} times in a row`}${next}`,
    ...(problem === undefined ? [] : problemLines(problem, facts)),
  ];
}

function problemLines(problem: string, { fixes }: ScanFacts): string[] {
  const known = fixes.get(problem);
  return [`    problem: ${problem}`, ...(known ? [`    ${known.cause}; fix it with: ${known.fix}`] : [])];
}
