import type { ConfigProblem } from '../../base/errors.ts';
import { declaredFamilies } from './declared-families.ts';
import { createReport, memberPath, type Report } from './problems.ts';
import type { ResolvedMapping, ResolvedMutation, ResolvedWrite } from './resolved.ts';
import { factsOf, modesThat, type WriteMode, type WriteModeFacts } from './write-modes.ts';

export type SinkKind = 'bulk-sink' | 'staged-sink' | 'request-sink';

/** Options of single-row requests: entries have no use for them. */
const REQUEST_OPTIONS = ['emptyBranchPolicy', 'requestOptions.requestTimeout', 'requestOptions.maxInFlightRequests'];

/** Options of batches and of table creation: single-row requests have no use for them. */
const BATCH_OPTIONS = [
  'createDisposition',
  'tableCreateOptions',
  'writerOptions.batchElementCountThreshold',
  'writerOptions.batchRequestByteThreshold',
  'writerOptions.maxInFlightEntries',
  'writerOptions.maxInFlightBytes',
  'writerOptions.maxConsecutiveRejections',
  'writerOptions.recoveryInitialBackoff',
  'writerOptions.recoveryMaxBackoff',
  'writerOptions.recoveryMaxAttempts',
];

/** Options that a pipeline of a mode may not set, not even at their default. */
const REFUSED: Readonly<Record<WriteModeFacts['makes'], readonly string[]>> = {
  entry: REQUEST_OPTIONS,
  conditional: BATCH_OPTIONS,
  // No branch is ever chosen here.
  'read-modify-write': [...BATCH_OPTIONS, 'emptyBranchPolicy'],
};

/** Options of batches that exactly-once pipelines have no use for: what they write is sent one by one, as requests. */
const STAGED_REFUSED = ['emptyBranchPolicy', ...BATCH_OPTIONS.filter((name) => name.startsWith('writerOptions.'))];

export interface PipelineOfMapping {
  readonly kind: SinkKind;
  readonly mapping: ResolvedMapping;
  /** The pipeline as its author wrote it, to see which options are set. */
  readonly written: Readonly<Record<string, unknown>>;
  /** Where the pipeline stands in the configuration. */
  readonly path: string;
  /** Pipelines with markers: the family that holds them, which the mapping may not write. */
  readonly markerFamily?: string;
  /** A request sink whose requests carry markers. */
  readonly isReplayProtected?: boolean;
}

/** What a mapping and the rest of its pipeline cannot have together. Empty = they fit. */
export function pipelineProblems({
  kind,
  mapping,
  written,
  path,
  markerFamily,
  isReplayProtected = false,
}: PipelineOfMapping): readonly ConfigProblem[] {
  const report = createReport();
  const { write } = mapping;
  const { mode } = write;
  const modePath = memberPath(path, 'mapping', 'writeMode');
  const unfit = isReplayProtected ? protectedModeProblem(mode) : modeProblem(kind, mode);
  if (unfit !== undefined) {
    // What else would not fit follows from this, and may fit once it is fixed.
    report.add(modePath, unfit, mode);
    return report.problems;
  }
  const refused =
    kind === 'staged-sink' ? STAGED_REFUSED : isReplayProtected ? BATCH_OPTIONS : REFUSED[factsOf(mode).makes];
  for (const name of refused) {
    const names = name.split('.');
    const value = names.reduce<unknown>(member, written);
    if (value !== undefined)
      report.add(memberPath(path, ...names), `does not apply to a ${kind} in the mode ${mode}`, value);
  }
  addFamilyProblems(mapping, written, path, report);
  addFormatProblems(mapping, written, path, report);
  if (kind === 'staged-sink' && 'operation' in write && write.rowDelete === 'row') {
    const rule = 'must be declared-families in a staged-sink: its markers live in the row';
    report.add(memberPath(path, 'mapping', 'operation', 'rowDelete'), rule, write.rowDelete);
  }
  if (markerFamily !== undefined) addMarkerProblems(write, markerFamily, memberPath(path, 'mapping'), report);
  return report.problems;
}

/** A family that is created must take what the mapping writes: the service refuses every cell of another type. */
function addFamilyProblems(
  mapping: ResolvedMapping,
  written: Readonly<Record<string, unknown>>,
  path: string,
  report: Report,
): void {
  for (const [family, type] of Object.entries(declaredFamilies(mapping))) {
    const names = ['tableCreateOptions', 'families', family, 'type'];
    const created = names.reduce<unknown>(member, written);
    if (created === undefined || created === type) continue;
    const rule =
      type === 'raw'
        ? 'must be raw or left out, because the mapping sets cells of the family'
        : `must be ${type} or left out, as mapping.families.${family}.aggregate says`;
    report.add(memberPath(path, ...names), rule, created);
  }
}

/** A frame that looks for line feeds or commas cuts binary records to pieces. */
function addFormatProblems(
  { format }: ResolvedMapping,
  { framing }: Readonly<Record<string, unknown>>,
  path: string,
  report: Report,
): void {
  if (format.type === 'json' || format.encoding !== 'binary' || framing === undefined || framing === 'single') return;
  const rule = `must be single with binary ${format.type}, whose bytes may hold any delimiter: one record is one message`;
  report.add(memberPath(path, 'framing'), rule, framing);
}

function modeProblem(kind: SinkKind, mode: WriteMode): string | undefined {
  const modes = modesThat(({ makes }) => (makes === 'entry') === (kind !== 'request-sink'));
  if (modes.includes(mode)) return undefined;
  const { mayBeMarked = false } = factsOf(mode);
  const alternative = kind === 'request-sink' && mayBeMarked ? `; ${mode} needs replayProtection` : '';
  return `must be a mode of ${kind} (${modes.join(', ')}${alternative})`;
}

/** Why no marker can protect a mode, or undefined. The service has to test the marker and write in one atomic step. */
function protectedModeProblem(mode: WriteMode): string | undefined {
  const { makes, mayBeMarked = false } = factsOf(mode);
  if (makes === 'read-modify-write') {
    return 'cannot be protected from replays: a read-modify-write request takes no marker. Count in a family of an aggregate type with the mode aggregate, or leave replayProtection out';
  }
  if (makes === 'conditional' || mayBeMarked) return undefined;
  const modes = modesThat((facts) => facts.makes === 'conditional' || facts.mayBeMarked === true);
  return `must be a mode of request-sink (${modes.join(', ')}), or the pipeline a staged-sink`;
}

/** Problems of a write beside markers: their family is the sink's alone, and a deleted row would forget them. */
function addMarkerProblems(write: ResolvedWrite, markerFamily: string, mappingPath: string, report: Report): void {
  const rule = 'must not be the family of the markers';
  if (write.mode !== 'conditional') {
    if (!write.families.some(({ family }) => family === markerFamily)) return;
    report.add(memberPath(mappingPath, 'families', markerFamily), rule, markerFamily);
    return;
  }
  const { then, otherwise } = write.conditional;
  const path = memberPath(mappingPath, 'conditional');
  if (then.length > 0) {
    const reason =
      'must be empty with replayProtection: the service cannot test the predicate and the marker in one step. Write what is to happen once in otherwise, or leave replayProtection out';
    report.add(memberPath(path, 'then'), reason, then);
  }
  for (const [index, mutation] of otherwise.entries()) {
    const at = memberPath(path, 'otherwise', index);
    if (mutation.kind === 'delete-row') {
      report.add(at, 'must not delete the row with replayProtection: its markers live in the row', mutation.kind);
    } else if (familyOf(mutation) === markerFamily) {
      report.add(at, rule, markerFamily);
    }
  }
}

const familyOf = (mutation: Exclude<ResolvedMutation, { readonly kind: 'delete-row' }>): string =>
  mutation.kind === 'delete-family' ? mutation.family : mutation.column.family;

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
