import { isSink, isSource, type ResolvedPipeline } from '../config/resolved.ts';

/** What the account of a function is allowed, as data: for the plan of a deployment and for its pages. Pure. */

/** A role, and what it is given on. */
export interface Grant {
  readonly role: string;
  readonly on: GrantTarget;
  /** Pipelines that need it; absent: every pipeline that the function serves. */
  readonly when?: Condition;
  /** Permissions of a role of one's own that is enough in its place. */
  readonly permissions?: readonly string[];
}

/** In the words of a page: `the table`. */
export type GrantTarget =
  | 'the table'
  | 'the instance'
  | 'the project'
  | 'the dead-letter topic'
  | 'the results topic'
  | 'the output topic'
  | 'the commit topics';

/** What is true of some pipelines and not of others. */
export interface Condition {
  /** On a page, after a role: ``with `commit: on-receipt` ``. */
  readonly words: string;
  readonly holds: (pipeline: ResolvedPipeline) => boolean;
}

/** Records wait in Firestore for a checkpoint. */
export const onCheckpoint: Condition = {
  words: 'with `commit: on-checkpoint`',
  holds: (pipeline) => pipeline.kind === 'staged-sink' && pipeline.commit.when === 'on-checkpoint',
};

/** Runs of a table: planned, read, ended. */
export const isScan: Condition = {
  words: 'for a `scan-source`',
  holds: ({ kind }) => kind === 'scan-source',
};

/** Changes of a table: read, and what the readers cannot do put right. */
export const isChangeStream: Condition = {
  words: 'for a `change-stream-source`',
  holds: ({ kind }) => kind === 'change-stream-source',
};

const publishesRows: Condition = {
  words: 'with `outputTopic`',
  holds: (pipeline) => isSource(pipeline) && pipeline.emission.topic !== undefined,
};

const publishesRowLetters: Condition = {
  words: 'with `deadLetterTopic`',
  holds: (pipeline) => pipeline.kind === 'scan-source' && pipeline.emission.deadLetterTopic !== undefined,
};

const onReceipt: Condition = {
  words: 'with `commit: on-receipt`',
  holds: (pipeline) => pipeline.kind === 'staged-sink' && pipeline.commit.when === 'on-receipt',
};

const replayProtection: Condition = {
  words: 'with `replayProtection`',
  holds: (pipeline) => pipeline.kind === 'request-sink' && pipeline.replayProtection !== undefined,
};

const noReplayProtection: Condition = {
  words: 'without `replayProtection`',
  holds: (pipeline) => !replayProtection.holds(pipeline),
};

const publishesResults: Condition = {
  words: 'with `resultsTopic`',
  holds: (pipeline) => pipeline.kind === 'request-sink' && pipeline.resultsTopic !== undefined,
};

const createsTables: Condition = {
  words: 'with `createDisposition: create-if-needed`',
  holds: (pipeline) => pipeline.kind === 'bulk-sink' && pipeline.tableCreateOptions !== undefined,
};

const failsToLetters: Condition = {
  words: 'with `failurePolicy: dead-letter`',
  holds: (pipeline) => isSink(pipeline) && pipeline.failure.policy === 'dead-letter',
};

const rejectsToLetters: Condition = {
  words: 'with `onRejected: dead-letter`',
  holds: (pipeline) => pipeline.kind === 'staged-sink' && pipeline.onRejected.policy === 'dead-letter',
};

const receivesAndRejectsToLetters: Condition = {
  words: 'with `commit: on-receipt` and `onRejected: dead-letter`',
  holds: (pipeline) => onReceipt.holds(pipeline) && rejectsToLetters.holds(pipeline),
};

const onTheTable: Grant = { role: 'roles/bigtable.user', on: 'the table' };
/** App profiles, which are checked before a write, are the instance's. */
const onTheInstance: Grant = {
  role: 'roles/bigtable.user',
  on: 'the instance',
};
const store: Grant = { role: 'roles/datastore.user', on: 'the project' };
const letters: Grant = { role: 'roles/pubsub.publisher', on: 'the dead-letter topic', when: failsToLetters };

export const BULK_SINK_GRANTS: readonly Grant[] = [
  onTheTable,
  letters,
  {
    role: 'roles/bigtable.admin',
    on: 'the instance',
    when: createsTables,
    permissions: ['bigtable.tables.create', 'bigtable.tables.get', 'bigtable.tables.update'],
  },
];

export const STAGED_SINK_GRANTS: readonly Grant[] = [
  { ...store, when: onCheckpoint },
  { ...onTheInstance, when: onReceipt },
  letters,
  { ...letters, when: receivesAndRejectsToLetters },
];

export const COMMIT_GRANTS: readonly Grant[] = [store, onTheInstance, { ...letters, when: rejectsToLetters }];

/** Where a table would be cut is asked with the role of a reader. */
const readsTheTable: Grant = { role: 'roles/bigtable.reader', on: 'the table' };
const output: Grant = { role: 'roles/pubsub.publisher', on: 'the output topic', when: publishesRows };

/**
 * Whether a reader's role is enough for the stream itself is not proven: Google's page on reading one names
 * `roles/bigtable.admin`. Whether the table keeps changes, and for how long, is in its description; whether a profile routes
 * to one cluster is the instance's.
 */
const CHANGE_GRANTS: readonly Grant[] = [
  readsTheTable,
  {
    role: 'roles/bigtable.viewer',
    on: 'the instance',
    permissions: ['bigtable.appProfiles.get', 'bigtable.tables.get'],
  },
];

export const READ_CHANGES_GRANTS: readonly Grant[] = [store, ...CHANGE_GRANTS, output];

export const COORDINATE_GRANTS: readonly Grant[] = [
  store,
  { role: 'roles/pubsub.publisher', on: 'the commit topics', when: onCheckpoint },
  { ...readsTheTable, when: isScan },
  ...CHANGE_GRANTS.map((grant) => ({ ...grant, when: isChangeStream })),
  output,
];

export const READ_SCAN_GRANTS: readonly Grant[] = [
  store,
  readsTheTable,
  output,
  { ...letters, when: publishesRowLetters },
];

/** Of both: a request needs the same of its table, wherever it comes from. */
const ROW_GRANTS: readonly Grant[] = [
  { ...onTheTable, when: noReplayProtection },
  { ...onTheInstance, when: replayProtection },
];

export const ROW_REQUEST_GRANTS = ROW_GRANTS;

export const REQUEST_SINK_GRANTS: readonly Grant[] = [
  ...ROW_GRANTS,
  { role: 'roles/pubsub.publisher', on: 'the results topic', when: publishesResults },
  letters,
];
