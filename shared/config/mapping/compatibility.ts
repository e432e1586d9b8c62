import type { ConfigProblem } from '../../base/errors.ts';
import { createReport, memberPath } from './problems.ts';
import type { ResolvedMapping, WriteMode } from './resolved.ts';

export type SinkKind = 'bulk-sink' | 'staged-sink' | 'request-sink';

/** Modes that write entries, in batches or staged. The others send one request a record. */
const ENTRY_MODES: readonly WriteMode[] = ['upsert', 'keep-latest', 'aggregate'];

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

/** Options of batches that exactly-once pipelines have no use for: what they write is staged, and sent one by one. */
const STAGED_REFUSED = ['emptyBranchPolicy', ...BATCH_OPTIONS.filter((name) => name.startsWith('writerOptions.'))];

export interface PipelineOfMapping {
  readonly kind: SinkKind;
  readonly mapping: ResolvedMapping;
  /** The pipeline as its author wrote it, to see which options are set. */
  readonly written: Readonly<Record<string, unknown>>;
  /** Where the pipeline stands in the configuration. */
  readonly path: string;
  /** Staged pipelines: the family that holds the markers, which the mapping may not write. */
  readonly markerFamily?: string;
}

/** What a mapping and the rest of its pipeline cannot have together. Empty = they fit. */
export function pipelineProblems({
  kind,
  mapping,
  written,
  path,
  markerFamily,
}: PipelineOfMapping): readonly ConfigProblem[] {
  const report = createReport();
  const { write } = mapping;
  const { mode } = write;
  const modePath = memberPath(path, 'mapping', 'writeMode');
  if (!MODES[kind](mode)) {
    // What else would not fit follows from this, and may fit once it is mended.
    report.add(modePath, `must be a mode of ${kind} (${modesOf(kind).join(', ')})`, mode);
    return report.problems;
  }
  const refused = new Set([...REFUSED[mode], ...(kind === 'staged-sink' ? STAGED_REFUSED : [])]);
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
  if (
    markerFamily !== undefined &&
    'families' in write &&
    write.families.some(({ family }) => family === markerFamily)
  ) {
    const rule = 'must not be the family of the markers';
    report.add(memberPath(path, 'mapping', 'families', markerFamily), rule, markerFamily);
  }
  return report.problems;
}

const modesOf = (kind: SinkKind): readonly string[] =>
  Object.keys(REFUSED).filter((mode) => MODES[kind](mode as WriteMode));

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
