import type { ResolvedMapping } from './mapping/resolved.ts';

/**
 * What a function runs by: the configuration after every default, check and unit is dealt with. Plain, deeply readonly
 * and JSON-serializable, so that a bundle can carry it. This file imports nothing but types, and nothing here needs the
 * parser: a cold start that finds a resolved document loads neither zod nor yaml.
 */

/** Any value that JSON can hold. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** Version of the shapes below. A document that carries another one is refused. */
export const RESOLVED_VERSION = 1;

export interface ResolvedConfig {
  readonly resolved: typeof RESOLVED_VERSION;
  /** By name, in the order of the document. */
  readonly pipelines: Readonly<Record<string, ResolvedPipeline>>;
}

/** One pipeline, told apart by its `kind`. */
export type ResolvedPipeline = ResolvedBulkSink;

export type PipelineKind = ResolvedPipeline['kind'];

/** Records of a subscription become row mutations, at least once. */
export interface ResolvedBulkSink {
  readonly kind: 'bulk-sink';
  readonly source: ResolvedSource;
  readonly destination: ResolvedDestination;
  /** Absent: the instance's default profile. */
  readonly appProfileId?: string;
  readonly access: ResolvedAccess;
  readonly serializer: ResolvedSerializer;
  readonly framing: ResolvedFraming;
  readonly failure: ResolvedFailure;
  /** There where createDisposition is create-if-needed, absent where it is create-never. */
  readonly tableCreateOptions?: ResolvedTableCreateOptions;
  readonly writer: ResolvedWriterOptions;
  /** Pub/Sub's time to wait for an answer, whole seconds. */
  readonly ackDeadlineMillis: number;
  /** Taken off an invocation's time so that its answer arrives before Pub/Sub gives up on it. Below ackDeadlineMillis. */
  readonly deadlineMarginMillis: number;
  /** 0 writes metrics at the end of every invocation. */
  readonly metricsFlushIntervalMillis: number;
}

export interface ResolvedSource {
  /** `projects/p/topics/t`; the bare topic id where no project is configured. */
  readonly topic: string;
  /** `projects/p/subscriptions/s`; the bare subscription id where no project is configured. */
  readonly subscription: string;
  /** `row`: the subscription delivers in the order of its ordering keys, which the publisher sets to the row. */
  readonly ordering: 'none' | 'row';
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

export type ResolvedSerializer =
  | { readonly kind: 'entry' }
  /** `module` is a path relative to the directory of the configuration. */
  | { readonly kind: 'module'; readonly module: string; readonly options?: JsonValue }
  /** Declared in the configuration: no code. */
  | { readonly kind: 'mapping'; readonly mapping: ResolvedMapping };

/** How the records of one message are told apart. */
export type ResolvedFraming = 'single' | 'ndjson' | 'json-array';

/** What becomes of a record that is itself wrong. */
export type ResolvedFailure =
  | { readonly policy: 'fail' }
  | { readonly policy: 'log-and-drop' }
  | { readonly policy: 'dead-letter'; readonly deadLetter: ResolvedDeadLetter };

export interface ResolvedDeadLetter {
  /** `projects/p/topics/t`; the bare topic id where no project is configured. */
  readonly topic: string;
  /** `entry`: the serialized row entry; `record`: the record as it was published. */
  readonly payload: 'entry' | 'record';
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
