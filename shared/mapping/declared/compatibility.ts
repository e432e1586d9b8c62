import type { ConfigProblem } from '../../base/errors.ts';
import { addMarkerProblems, protectedModeProblem } from './markers.ts';
import { createReport, memberPath } from './problems.ts';
import type { ResolvedMapping, WriteMode } from './resolved.ts';

export type SinkKind = 'bulk-sink' | 'staged-sink' | 'request-sink';

/** Modes that write entries, in batches or staged. The others send one request a record. */
const ENTRY_MODES: readonly WriteMode[] = ['upsert', 'keep-latest', 'aggregate'];

/** Modes that a kind of sink takes. */
const MODES: Readonly<Record<SinkKind, (mode: WriteMode) => boolean>> = {
  'bulk-sink': (mode) => ENTRY_MODES.includes(mode),
  'staged-sink': (mode) => ENTRY_MODES.includes(mode),
  'request-sink': (mode) => !ENTRY_MODES.includes(mode),
};

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

/** Options that a pipeline of the mode may not set, not even at their default. */
const REFUSED: Readonly<Record<WriteMode, readonly string[]>> = {
  upsert: REQUEST_OPTIONS,
  'keep-latest': REQUEST_OPTIONS,
  aggregate: REQUEST_OPTIONS,
  'insert-if-absent': BATCH_OPTIONS,
  'replace-if-newest': BATCH_OPTIONS,
  // No branch is ever chosen here.
  append: [...BATCH_OPTIONS, 'emptyBranchPolicy'],
  increment: [...BATCH_OPTIONS, 'emptyBranchPolicy'],
  conditional: BATCH_OPTIONS,
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
  const refused = kind === 'staged-sink' ? STAGED_REFUSED : isReplayProtected ? BATCH_OPTIONS : REFUSED[mode];
  for (const name of refused) {
    const names = name.split('.');
    const value = names.reduce<unknown>(member, written);
    if (value !== undefined)
      report.add(memberPath(path, ...names), `does not apply to a ${kind} in the mode ${mode}`, value);
  }
  if (kind === 'staged-sink' && 'operation' in write && write.rowDelete === 'row') {
    const rule = 'must be declared-families in a staged-sink: its markers live in the row';
    report.add(memberPath(path, 'mapping', 'operation', 'rowDelete'), rule, write.rowDelete);
  }
  if (markerFamily !== undefined) addMarkerProblems(write, markerFamily, memberPath(path, 'mapping'), report);
  return report.problems;
}

function modeProblem(kind: SinkKind, mode: WriteMode): string | undefined {
  if (MODES[kind](mode)) return undefined;
  const alternative = kind === 'request-sink' && mode === 'aggregate' ? '; aggregate needs replayProtection' : '';
  return `must be a mode of ${kind} (${modesOf(kind).join(', ')}${alternative})`;
}

const modesOf = (kind: SinkKind): readonly string[] =>
  Object.keys(REFUSED).filter((mode) => MODES[kind](mode as WriteMode));

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
