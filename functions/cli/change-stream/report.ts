import { textTable } from '../../../shared/base/text-table.ts';
import { formatNanos } from '../../../shared/change-stream/ledger/retention.ts';
import type { Source } from '../../../shared/change-stream/source.ts';
import type {
  MergeOverview,
  MissingOverview,
  PartitionOverview,
  SlotOverview,
  SourceOverview,
} from '../../../shared/change-stream/source-status.ts';
import { formatRange, type RowRange } from '../../../shared/model/row-range.ts';
import { counted, duration, grouped, indented } from '../amounts.ts';
import { problemShown } from './problem.ts';

/** Of the partitions that lag most, of merges and of missing parts. */
const MOST_SHOWN = 20;

/** The report of a source as lines of text. Pure. */
export function sourceReport(name: string, overview: SourceOverview, hasRanges: boolean): string {
  const { source, partitions, merges, missing, slots } = overview;
  const shown = partitions.slice(0, MOST_SHOWN);
  return [
    ...headLines(name, source),
    ...(source.generation === 0 ? [] : [`  ${watermarkText(overview)}`, `  ${countsText(overview)}`]),
    ...(shown.length > 0 ? [indented(partitionTable(shown, hasRanges))] : []),
    ...restLines(partitions.slice(MOST_SHOWN)),
    ...shown.flatMap((each) => problemLines(each, hasRanges)),
    ...cut(merges, 'merge', (each) => mergeText(each, hasRanges)),
    ...cut(missing, 'missing part', (each) => missingText(each, hasRanges)),
    ...(slots.length > 0 ? [indented(slotTable(slots))] : []),
  ].join('\n');
}

function headLines(name: string, { status, generation, startTime, endTime, retention, problem }: Source): string[] {
  const facts = [
    `${name}: is ${status}`,
    ...(generation === 0 ? [] : [`start ${generation}`]),
    ...(startTime === undefined ? [] : [`reads changes from ${formatNanos(startTime)}`]),
    ...(endTime === undefined ? [] : [`until ${formatNanos(endTime)}`]),
    retention
      ? `the service keeps them for ${duration(retention.millis)}`
      : 'how long the service keeps them is not known',
  ];
  return [facts.join(', '), ...(problem === undefined ? [] : [`  problem: ${problem}`])];
}

function watermarkText({ lowWatermark, lagMillis, headroomMillis }: SourceOverview): string {
  if (lowWatermark === undefined) return 'low watermark not known: what was read does not make up the table';
  const lag = lagMillis === undefined ? 'nothing is left to be read' : `${duration(lagMillis)} behind`;
  const headroom =
    headroomMillis === undefined
      ? ''
      : `; headroom ${duration(headroomMillis)} until the service forgets what comes next`;
  return `low watermark ${formatNanos(lowWatermark)}, ${lag}${headroom}`;
}

function countsText({ partitions, completed }: SourceOverview): string {
  const of = (kind: PartitionOverview['state']): string =>
    grouped(partitions.filter(({ state }) => state === kind).length);
  const ended = completed === 0 ? '' : `, ${grouped(completed)} read to the end`;
  return `${counted(partitions.length, 'partition')} to read: ${of('held')} being read, ${of('waiting')} waiting, ${of('resting')} resting${ended}`;
}

/** Ids are hashes: so much of one tells it apart from all others of a source. */
const shortId = (id: string): string => id.slice(0, 12);

const partitionTable = (partitions: readonly PartitionOverview[], hasRanges: boolean): string =>
  textTable([
    ['PARTITION', ...(hasRanges ? ['RANGE'] : []), 'STATE', 'SLOT', 'LAG', 'HEADROOM', 'FAILURES'],
    ...partitions.map(({ id, range, state, slot, restMillis, lagMillis, headroomMillis, failures }) => [
      shortId(id),
      ...(hasRanges ? [formatRange(range)] : []),
      restMillis === undefined ? state : `${state} for ${duration(restMillis)}`,
      slot === undefined ? '' : String(slot),
      duration(lagMillis),
      headroomMillis === undefined ? 'not known' : duration(headroomMillis),
      String(failures),
    ]),
  ]);

/** The first one lags most. */
function restLines(rest: readonly PartitionOverview[]): string[] {
  const [first] = rest;
  if (!first) return [];
  const failing = rest.filter(({ failures }) => failures > 0).length;
  return [
    `  and ${grouped(rest.length)} more, which lag ${duration(first.lagMillis)} at most; ${grouped(failing)} of them failed last`,
  ];
}

const problemLines = ({ id, range, problem }: PartitionOverview, hasRanges: boolean): string[] =>
  problem === undefined ? [] : [`  partition ${shortId(id)}: ${problemShown(problem, range, hasRanges)}`];

function cut<Value>(values: readonly Value[], what: string, text: (value: Value) => string): string[] {
  const more = values.length - MOST_SHOWN;
  return [
    ...values.slice(0, MOST_SHOWN).map((value) => `  ${text(value)}`),
    ...(more > 0 ? [`  and ${counted(more, `more ${what}`)}`] : []),
  ];
}

const placed = (range: RowRange, hasRanges: boolean): string => (hasRanges ? ` ${formatRange(range)}` : '');

function mergeText({ target, parked, lagMillis }: MergeOverview, hasRanges: boolean): string {
  const of = hasRanges ? ` of ${parked.map(formatRange).join(' ')}` : '';
  return `merge${placed(target, hasRanges)}: ${counted(parked.length, 'token')}${of} parked until the others come, ${duration(lagMillis)} behind`;
}

function missingText(missing: MissingOverview, hasRanges: boolean): string {
  const { range, missingMillis, fromTokensMillis, tokenlessMillis, lagMillis } = missing;
  return (
    `missing${placed(range, hasRanges)}: nobody reads it since ${duration(missingMillis)}, ${duration(lagMillis)} behind; ` +
    `read on from tokens in ${duration(fromTokensMillis)} where they wait, anew without in ${duration(tokenlessMillis)}`
  );
}

const slotTable = (slots: readonly SlotOverview[]): string =>
  textTable([
    ['SLOT', 'OWNER', 'EPOCH', 'LEASE', 'PARTITIONS'],
    ...slots.map(({ slot, owner, epoch, leaseMillis, partitions }) => [
      String(slot),
      owner === '' ? 'nobody' : owner,
      String(epoch),
      owner === '' ? '' : leaseMillis > 0 ? `for ${duration(leaseMillis)} more` : 'ran out',
      grouped(partitions),
    ]),
  ]);
