import { isSource, type ResolvedPipeline } from '../config/resolved.ts';
import {
  BULK_SINK_GRANTS,
  COMMIT_GRANTS,
  COORDINATE_GRANTS,
  type Grant,
  isChangeStream,
  isScan,
  onCheckpoint,
  READ_CHANGES_GRANTS,
  READ_SCAN_GRANTS,
  REQUEST_SINK_GRANTS,
  ROW_REQUEST_GRANTS,
  STAGED_SINK_GRANTS,
} from './grants.ts';

/**
 * Every entry point, and what its functions are deployed with. Pure data: the plan of a deployment, the local cloud, the
 * pages and the functions themselves are held to this table. A new entry point is a file in `functions/`, its loader in
 * `functions/index.ts`, and a row here.
 */

/** What calls a function: a push of Pub/Sub, jobs of Cloud Scheduler, or whoever may. */
export type Trigger =
  /** `of`: the records of a pipeline, or the work that its coordinator sends out. */
  { readonly kind: 'push'; readonly of: 'records' | 'work' } | ScheduleTrigger | { readonly kind: 'http' };

/** Jobs without retries: the next attempt comes soon enough, and none begins while one is open. */
export interface ScheduleTrigger {
  readonly kind: 'schedule';
  /** In the form of cron, in UTC. */
  readonly cron: string;
  /** How long an attempt may take: 15 to 1,800. */
  readonly attemptDeadlineSeconds: number;
  /** A job for each of so many slots of a pipeline, whose body is `{"slot": k}`. Absent: one job without a body. */
  readonly slots?: (pipeline: ResolvedPipeline) => number;
  /** When a pipeline has a job more, whose body is `{"start": {}}`: in the form of cron. */
  readonly starts?: (pipeline: ResolvedPipeline) => string | undefined;
}

export interface EntryPointDeclaration {
  /** Module in `functions/` that exports it under its name. */
  readonly file: string;
  readonly trigger: Trigger;
  /** One function for each pipeline that needs it, or one for all of them. */
  readonly serves: 'one-pipeline' | 'all-pipelines';
  readonly isNeededBy: (pipeline: ResolvedPipeline) => boolean;
  /** What people call it, in logs and tables: `committer`. */
  readonly title: string;
  /** Ends the name of its functions: `<pipeline>-<suffix>`. */
  readonly suffix: string;
  readonly size: FunctionSize;
  readonly grants: readonly Grant[];
  /** What a request becomes, for the page of entry points. */
  readonly does: string;
  /** What is true when it answers 204; where it answers otherwise, how. */
  readonly answers: string;
}

/** What one instance is given, and takes at a time. */
export interface FunctionSize {
  readonly cpu: number;
  /** As gcloud and OpenTofu write it: `512Mi`. */
  readonly memory: string;
  /** Requests in one instance at a time. */
  readonly concurrency: number;
  readonly timeoutSeconds: number;
  /** Absent: the platform's own limit. */
  readonly maxInstances?: number;
}

/** A push carries one message, and an instance batches those that are in it: its concurrency is the batch knob. */
const SINK_SIZE: FunctionSize = { cpu: 1, memory: '512Mi', concurrency: 80, timeoutSeconds: 600 };

const RECORDS = { kind: 'push', of: 'records' } as const;
/** The shortest interval of Cloud Scheduler. */
const EVERY_MINUTE = '* * * * *';
/** The longest attempt of Cloud Scheduler: a session of a slot may be as long. */
const SLOT_SECONDS = 1800;
/** The most that `parallelism` takes. */
const MAX_SLOTS = 100;

export const ENTRY_POINTS = {
  bulkSink: {
    file: 'bulk-sink.ts',
    trigger: RECORDS,
    serves: 'one-pipeline',
    isNeededBy: ({ kind }) => kind === 'bulk-sink',
    title: 'bulk sink',
    suffix: 'sink',
    size: SINK_SIZE,
    grants: BULK_SINK_GRANTS,
    does: 'record → row mutation → `MutateRows`, batched across concurrent requests',
    answers: 'every record of the message is applied, skipped, or confirmed by the dead-letter topic',
  },
  stagedSink: {
    file: 'staged-sink.ts',
    trigger: RECORDS,
    serves: 'one-pipeline',
    isNeededBy: ({ kind }) => kind === 'staged-sink',
    title: 'staged sink',
    suffix: 'sink',
    size: SINK_SIZE,
    grants: STAGED_SINK_GRANTS,
    does: 'record → envelope in Firestore, in segments of concurrent requests; with `commit: on-receipt` straight into its row',
    answers:
      'every record of the message is stored (on receipt: applied), skipped, or confirmed by the dead-letter topic',
  },
  commitStaged: {
    file: 'commit-staged.ts',
    trigger: { kind: 'push', of: 'work' },
    serves: 'one-pipeline',
    isNeededBy: onCheckpoint.holds,
    title: 'committer',
    suffix: 'commit',
    // It holds what it writes: up to 8 MiB a message.
    size: { cpu: 1, memory: '1Gi', concurrency: 8, timeoutSeconds: 600 },
    grants: COMMIT_GRANTS,
    does: 'envelopes of a completed checkpoint → `CheckAndMutateRow` with a marker each',
    answers: 'the segments of the message are finished, gone, or held by another invocation',
  },
  requestSink: {
    file: 'request-sink.ts',
    trigger: RECORDS,
    serves: 'one-pipeline',
    isNeededBy: ({ kind }) => kind === 'request-sink',
    title: 'request sink',
    suffix: 'sink',
    size: SINK_SIZE,
    grants: REQUEST_SINK_GRANTS,
    does: 'record → one `CheckAndMutateRow` or `ReadModifyWriteRow`, its answer to the results topic',
    answers:
      'every request of the message is answered and its result published, skipped, or confirmed by the dead-letter topic',
  },
  rowRequest: {
    file: 'row-request.ts',
    trigger: { kind: 'http' },
    serves: 'one-pipeline',
    isNeededBy: ({ kind }) => kind === 'request-sink',
    title: 'row requests',
    suffix: 'rows',
    size: { ...SINK_SIZE, timeoutSeconds: 60 },
    grants: ROW_REQUEST_GRANTS,
    does: 'one `CheckAndMutateRow` or `ReadModifyWriteRow`, its result in the answer',
    answers: '(answers 200 with the result)',
  },
  readScan: {
    file: 'read-scan.ts',
    trigger: {
      kind: 'schedule',
      cron: EVERY_MINUTE,
      attemptDeadlineSeconds: SLOT_SECONDS,
      slots: (pipeline) => (pipeline.kind === 'scan-source' ? pipeline.slots.parallelism : 0),
      starts: (pipeline) => (pipeline.kind === 'scan-source' ? pipeline.runs.schedule : undefined),
    },
    serves: 'one-pipeline',
    isNeededBy: isScan.holds,
    title: 'scan source',
    suffix: 'read',
    // A slot has its instance for itself; what starts runs comes beside all slots, and a deployment beside the last one.
    size: { cpu: 1, memory: '1Gi', concurrency: 1, timeoutSeconds: SLOT_SECONDS, maxInstances: 2 * MAX_SLOTS },
    grants: READ_SCAN_GRANTS,
    does: 'rows of a table → messages of the output topic, by slots of some minutes each; starts runs',
    answers: '(answers 200 with what the slot did; 202 to a start)',
  },
  readChangeStream: {
    file: 'read-change-stream.ts',
    trigger: {
      kind: 'schedule',
      cron: EVERY_MINUTE,
      attemptDeadlineSeconds: SLOT_SECONDS,
      slots: (pipeline) => (pipeline.kind === 'change-stream-source' ? pipeline.slots.parallelism : 0),
    },
    serves: 'one-pipeline',
    isNeededBy: isChangeStream.holds,
    title: 'change stream source',
    suffix: 'read',
    // A slot has its instance for itself, and a deployment comes beside the last one.
    size: { cpu: 1, memory: '1Gi', concurrency: 1, timeoutSeconds: SLOT_SECONDS, maxInstances: 2 * MAX_SLOTS },
    grants: READ_CHANGES_GRANTS,
    does: 'changes of a table → messages of the output topic, in the order of each row, by slots of some minutes each',
    answers: '(answers 200 with what the slot did)',
  },
  coordinate: {
    file: 'coordinate.ts',
    trigger: { kind: 'schedule', cron: EVERY_MINUTE, attemptDeadlineSeconds: 120 },
    serves: 'all-pipelines',
    isNeededBy: (pipeline) => onCheckpoint.holds(pipeline) || isSource(pipeline),
    title: 'coordinator',
    suffix: 'coordinate',
    // It waits most of 55 s of every minute; a second instance says that the first is at it.
    size: { cpu: 1, memory: '512Mi', concurrency: 1, timeoutSeconds: 120, maxInstances: 2 },
    grants: COORDINATE_GRANTS,
    does: 'completes checkpoints of staged pipelines and hands their segments to `commitStaged`; plans and ends runs of scans; starts, repairs and ends change streams',
    answers: '(answers 200 with a summary; at once if no pipeline needs ticks)',
  },
} as const satisfies Readonly<Record<string, EntryPointDeclaration>>;

export type EntryPointName = keyof typeof ENTRY_POINTS;

/** The rows of the table, each with its name. */
export const entryPoints: readonly (EntryPointDeclaration & { readonly name: EntryPointName })[] = Object.entries(
  ENTRY_POINTS,
).map(([name, declared]) => ({ ...declared, name: name as EntryPointName }));
