import type { ResolvedMapping } from '../mapping/declared/resolved.ts';

/**
 * What a function runs by: the configuration after every default, check and unit is dealt with. Plain, deeply readonly
 * and JSON-serializable, so that a bundle can carry it. This file imports nothing but types, and nothing here needs the
 * parser: a cold start that finds a resolved document loads neither zod nor yaml.
 */

/** Any value that JSON can hold. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** Version of the shapes below. A document that carries another one is refused. */
export const RESOLVED_VERSION = 2;

export interface ResolvedConfig {
  readonly resolved: typeof RESOLVED_VERSION;
  /** By name, in the order of the document. */
  readonly pipelines: Readonly<Record<string, ResolvedPipeline>>;
}

/** One pipeline, told apart by its `kind`. */
export type ResolvedPipeline = ResolvedBulkSink | ResolvedStagedSink | ResolvedRequestSink;

export type PipelineKind = ResolvedPipeline['kind'];

/** The pipeline of one kind. */
export type PipelineOf<Kind extends PipelineKind> = Extract<ResolvedPipeline, { readonly kind: Kind }>;

/** What every pipeline has, whichever way its data go. */
export interface ResolvedCommon {
  /** Absent: the instance's default profile. */
  readonly appProfileId?: string;
  readonly access: ResolvedAccess;
  /** 0 writes metrics at the end of every invocation. */
  readonly metricsFlushIntervalMillis: number;
}

/** What every sink has. */
export interface ResolvedSink extends ResolvedCommon {
  readonly input: ResolvedInput;
  readonly destination: ResolvedDestination;
}

/** Records of a subscription become row mutations, at least once. */
export interface ResolvedBulkSink extends ResolvedSink {
  readonly kind: 'bulk-sink';
  readonly serializer: ResolvedSerializer;
  readonly failure: ResolvedFailure;
  /** Present under create-if-needed, absent under create-never. */
  readonly tableCreateOptions?: ResolvedTableCreateOptions;
  readonly writer: ResolvedWriterOptions;
}

/** Records of a subscription become row mutations, each exactly once. */
export interface ResolvedStagedSink extends ResolvedSink {
  readonly kind: 'staged-sink';
  readonly serializer: ResolvedSerializer;
  /** What becomes of a record that cannot be read, serialized or wrapped in an envelope. */
  readonly failure: ResolvedFailure;
  /** What becomes of an envelope that Bigtable refuses, or that is too old to be applied safely. */
  readonly onRejected: Exclude<ResolvedFailure, { readonly policy: 'log-and-drop' }>;
  readonly marker: ResolvedMarker;
  /** Attribute that identifies a message; absent: Pub/Sub's message id does. */
  readonly idAttribute?: string;
  readonly commit: ResolvedCommit;
  readonly requestOptions: ResolvedRequestOptions;
}

/** One conditional or read-modify-write request for each record of a subscription. */
export interface ResolvedRequestSink extends ResolvedSink {
  readonly kind: 'request-sink';
  readonly serializer: ResolvedSerializer<'request'>;
  readonly failure: ResolvedFailure<'request' | 'record'>;
  readonly requestOptions: ResolvedRequestOptions;
  /** What becomes of a message whose request selected a branch without mutations. `fail`: it is not acknowledged. */
  readonly emptyBranchPolicy: 'ignore' | 'fail';
  /** `projects/p/topics/t`, or a bare id, that answers are published to. Absent: nowhere. */
  readonly resultsTopic?: string;
  /** Present if every request carries a marker that makes its replay harmless. */
  readonly replayProtection?: { readonly markerFamily: string };
}

export interface ResolvedMarker {
  readonly family: string;
  /** Age up to which an envelope may be applied; garbage collection may take older markers. Absent: markers stay forever. */
  readonly horizonMillis?: number;
}

/** When an envelope is written: by the invocation that receives it, or once a checkpoint owns it. */
export type ResolvedCommit = { readonly when: 'on-receipt' } | ({ readonly when: 'on-checkpoint' } & ResolvedStaging);

export interface ResolvedStaging {
  readonly checkpointIntervalMillis: number;
  readonly maxStagedEntries: number;
  /** Of requests, and 256 for each entry. */
  readonly maxStagedBytes: number;
  /** `projects/p/topics/t`; the bare topic id where no project is configured. */
  readonly commitTopic: string;
  /** `projects/p/subscriptions/s`; the bare subscription id where no project is configured. */
  readonly commitSubscription: string;
  readonly firestore: ResolvedFirestore;
}

export interface ResolvedFirestore {
  /** Absent: the project that the function runs in. */
  readonly project?: string;
  readonly database: string;
}

export interface ResolvedRequestOptions {
  readonly requestTimeoutMillis: number;
  readonly maxInFlightRequests: number;
  readonly destinationIdleTimeoutMillis: number;
  readonly maxActiveInstances: number;
  readonly perDestinationMetrics: boolean;
}

/** Where the records of a sink come from, and how its messages are taken. */
export interface ResolvedInput {
  /** `projects/p/topics/t`; the bare topic id where no project is configured. */
  readonly topic: string;
  /** `projects/p/subscriptions/s`; the bare subscription id where no project is configured. */
  readonly subscription: string;
  /** `row`: the subscription delivers in the order of its ordering keys, which the publisher sets to the row. */
  readonly ordering: 'none' | 'row';
  readonly framing: ResolvedFraming;
  /** Pub/Sub's time to wait for an answer, whole seconds. */
  readonly ackDeadlineMillis: number;
  /** Taken off an invocation's time so that its answer arrives before Pub/Sub gives up on it. Below ackDeadlineMillis. */
  readonly deadlineMarginMillis: number;
}

/**
 * Where rows go. A record's table is what the serializer says, else what its attribute says, else `table`.
 * A bare table id belongs to `home`.
 */
export interface ResolvedDestination {
  readonly table?: { readonly project: string; readonly instance: string; readonly table: string };
  readonly home?: { readonly project: string; readonly instance: string };
  /** Name of the message attribute that holds `project.instance.table` or a bare table id. */
  readonly attribute?: string;
}

/** How to authenticate with Bigtable. */
export type ResolvedAccess =
  | { readonly mode: 'application-default' }
  /** A relative path belongs to the directory of the configuration. */
  | { readonly mode: 'key-file'; readonly serviceAccountKeyFile: string }
  /** Plaintext, no credentials. */
  | { readonly mode: 'emulator'; readonly host: string; readonly port: number };

/** `Form` names what a record is already where nothing has to be made of it. */
export type ResolvedSerializer<Form extends 'entry' | 'request' = 'entry'> =
  | { readonly kind: Form }
  /** `module` is a path relative to the directory of the configuration. */
  | { readonly kind: 'module'; readonly module: string; readonly options?: JsonValue }
  /** Declared in the configuration: no code. */
  | { readonly kind: 'mapping'; readonly mapping: ResolvedMapping };

/** How the records of one message are told apart. */
export type ResolvedFraming = 'single' | 'ndjson' | 'json-array';

/** What becomes of a record that is itself wrong. */
export type ResolvedFailure<Payload extends DeadLetterPayload = 'entry' | 'record'> =
  | { readonly policy: 'fail' }
  | { readonly policy: 'log-and-drop' }
  | { readonly policy: 'dead-letter'; readonly deadLetter: ResolvedDeadLetter<Payload> };

/** `entry`: the serialized row entry; `request`: the whole request; `record`: the record as it was published. */
export type DeadLetterPayload = 'entry' | 'request' | 'record';

export interface ResolvedDeadLetter<Payload extends DeadLetterPayload = 'entry' | 'record'> {
  /** `projects/p/topics/t`; the bare topic id where no project is configured. */
  readonly topic: string;
  readonly payload: Payload;
  readonly maxOutstandingMessages: number;
  readonly flushTimeoutMillis: number;
  readonly shutdownTimeoutMillis: number;
}

/** The families that every table of the pipeline must have. What else a table has is left alone. */
export interface ResolvedTableCreateOptions {
  /** By name; at least one. */
  readonly families: Readonly<Record<string, ResolvedFamily>>;
}

export interface ResolvedFamily {
  readonly type: FamilyType;
  /** Absent: nothing is collected. */
  readonly gcRule?: ResolvedGcRule;
}

/** `raw` holds bytes; the others aggregate int64 inputs. */
export type FamilyType = 'raw' | 'int64-sum' | 'int64-min' | 'int64-max' | 'int64-hll';

export type ResolvedGcRule =
  | { readonly kind: 'max-versions'; readonly maxVersions: number }
  | { readonly kind: 'max-age'; readonly maxAgeMillis: number }
  | { readonly kind: 'union' | 'intersection'; readonly rules: readonly ResolvedGcRule[] };

export interface ResolvedWriterOptions {
  readonly batchElementCountThreshold: number;
  readonly batchRequestByteThreshold: number;
  readonly maxInFlightEntries: number;
  readonly maxInFlightBytes: number;
  readonly maxConcurrentBatches: number;
  readonly lingerMillis: number;
  /** −1: no limit. */
  readonly maxConsecutiveRejections: number;
  readonly rejectionCooldownMillis: number;
  readonly requestTimeoutMillis: number;
  readonly retryInitialBackoffMillis: number;
  /** At least retryInitialBackoffMillis. */
  readonly retryMaxBackoffMillis: number;
  readonly recoveryInitialBackoffMillis: number;
  /** At least recoveryInitialBackoffMillis. */
  readonly recoveryMaxBackoffMillis: number;
  readonly recoveryMaxAttempts: number;
  readonly destinationIdleTimeoutMillis: number;
  readonly maxActiveInstances: number;
  readonly perDestinationMetrics: boolean;
  /** Obey the rate that Bigtable asks for (RateLimitInfo). */
  readonly flowControl: boolean;
}
