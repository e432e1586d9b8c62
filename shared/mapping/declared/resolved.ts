import type { CellFormat } from '../codecs/cell-codec.ts';
import type { TimeUnit } from '../values/time.ts';
import type { Carried, NullMode, WRITE_MODES, WriteMode } from './write-modes.ts';

/**
 * A mapping after every check: plain JSON, with texts parsed and defaults filled in. A bundle carries it, so a function
 * that starts needs neither the schema library nor the parsers of the configuration.
 */

/** Where a value comes from. `label` is the path as its author wrote it, for messages. */
export type FieldReference =
  | { readonly from: 'payload'; readonly path: readonly string[]; readonly label: string }
  | { readonly from: 'attribute'; readonly name: string; readonly label: string }
  /** `data` is the record's bytes before they are decoded. */
  | { readonly from: 'orderingKey' | 'messageId' | 'publishTime' | 'data'; readonly label: string };

export type CalendarUnit = 'year' | 'month' | 'day' | 'hour';

export type TemplateModifier =
  | { readonly kind: 'pad'; readonly width: number }
  | { readonly kind: 'hash'; readonly digits: number }
  | { readonly kind: 'salt'; readonly buckets: number }
  | { readonly kind: 'reverse'; readonly separator: string }
  | { readonly kind: 'timestamp'; readonly unit: TimeUnit }
  | { readonly kind: 'inverted'; readonly unit: Exclude<TimeUnit, 'rfc3339'> }
  | { readonly kind: 'utc'; readonly unit: CalendarUnit }
  | { readonly kind: 'escape'; readonly characters: string }
  | { readonly kind: 'default'; readonly text: string }
  | { readonly kind: 'hex' | 'lower' | 'upper' | 'number' };

export type TemplatePart =
  | { readonly kind: 'literal'; readonly text: string }
  | {
      readonly kind: 'field';
      readonly field: FieldReference;
      readonly modifiers: readonly TemplateModifier[];
      /** The literal before the next field; absent for the last field and where a fixed width separates. */
      readonly delimiter?: string;
    };

export interface TemplatePolicy {
  readonly onNull: 'reject' | 'empty';
  readonly onEmpty: 'reject' | 'allow';
  /** Treatment of a value that contains the delimiter behind it. */
  readonly onDelimiter: 'reject' | 'escape' | 'allow';
}

export interface ResolvedTemplate {
  readonly parts: readonly TemplatePart[];
  readonly policy: TemplatePolicy;
}

export type ResolvedRowKey =
  | { readonly kind: 'template'; readonly template: ResolvedTemplate }
  | { readonly kind: 'typed'; readonly field: FieldReference; readonly format: CellFormat };

export interface ResolvedColumn {
  readonly qualifier: string;
  readonly field: FieldReference;
  readonly format: CellFormat;
  readonly onNull: NullMode;
  readonly onMissing: 'reject' | 'null';
}

/** Columns that the data names: every member of the object becomes a cell. */
export interface ResolvedDynamicColumns {
  readonly field: FieldReference;
  readonly format: CellFormat;
  readonly onNull: NullMode;
  readonly onMissing: 'reject' | 'null';
  readonly update: 'merge' | 'replace';
}

export interface ResolvedFamily {
  readonly family: string;
  /** The object that holds the fields of this family; when it is null nothing of the family is written. */
  readonly within?: FieldReference;
  readonly columns: readonly ResolvedColumn[];
  readonly dynamic?: ResolvedDynamicColumns;
  readonly aggregate?: AggregateType;
}

export type AggregateType = 'int64-sum' | 'int64-min' | 'int64-max' | 'int64-hll';

export type ResolvedTimestamp =
  | { readonly from: 'publishTime' }
  | {
      readonly from: 'field';
      readonly field: FieldReference;
      readonly unit: TimeUnit;
      readonly truncateToMillis: boolean;
      readonly onNull: 'reject' | 'publish-time';
      /** Days after the publish time of the message; absent = any. */
      readonly maxFutureDays?: number;
    };

export type RowOperation =
  | { readonly kind: 'write' | 'skip' | 'delete-row' }
  | { readonly kind: 'delete-families'; readonly families: readonly string[] }
  | {
      readonly kind: 'delete-columns';
      readonly columns: readonly { readonly family: string; readonly qualifier: string }[];
    };

export interface ResolvedOperation {
  readonly field: FieldReference;
  readonly values: Readonly<Record<string, RowOperation>>;
  readonly onMissing: 'reject' | 'write';
}

export type ColumnDeletes = 'up-to-timestamp' | 'all-versions';

export type ConditionTest =
  /** Compared as texts: a number in its shortest plain notation, `true`, `false`. */
  | { readonly kind: 'in' | 'not-in'; readonly values: readonly string[] }
  | { readonly kind: 'is'; readonly state: 'null' | 'missing' | 'empty' };

export interface ResolvedCondition {
  readonly field: FieldReference;
  readonly test: ConditionTest;
}

export type ResolvedDestination = {
  readonly template: ResolvedTemplate;
} & (
  | { readonly tables: readonly string[]; readonly pattern?: never; readonly maxTables?: never }
  | { readonly pattern: string; readonly maxTables: number; readonly tables?: never }
);

/** Bytes in JSON. */
export interface Base64 {
  readonly base64: string;
}

export type ResolvedOperand =
  | { readonly kind: 'field'; readonly field: FieldReference; readonly format: CellFormat }
  | { readonly kind: 'bytes'; readonly bytes: Base64 }
  /** Decimal digits, because JSON has no 64-bit integer. */
  | { readonly kind: 'int64'; readonly digits: string };

export type ResolvedTime =
  | { readonly kind: 'micros'; readonly digits: string }
  | {
      readonly kind: 'field';
      readonly field: FieldReference;
      readonly unit: TimeUnit;
      /** Days after the publish time of the message; absent = any, as for the bounds of a deletion. */
      readonly maxFutureDays?: number;
    };

export interface ResolvedColumnName {
  readonly family: string;
  readonly qualifier: Base64;
}

export type ResolvedPredicate =
  | { readonly kind: 'row-exists' }
  | { readonly kind: 'cell-exists'; readonly column: ResolvedColumnName }
  | { readonly kind: 'latest-cell-value-equals'; readonly column: ResolvedColumnName; readonly value: ResolvedOperand };

export type ResolvedMutation =
  | {
      readonly kind: 'set-cell';
      readonly column: ResolvedColumnName;
      readonly value: ResolvedOperand;
      /** Absent = the publish time. */
      readonly timestamp?: ResolvedTime;
    }
  | {
      readonly kind: 'add-to-cell' | 'merge-to-cell';
      readonly column: ResolvedColumnName;
      readonly value: ResolvedOperand;
      readonly timestamp: ResolvedTime;
    }
  | {
      readonly kind: 'delete-cells';
      readonly column: ResolvedColumnName;
      readonly start?: ResolvedTime;
      readonly end?: ResolvedTime;
    }
  | { readonly kind: 'delete-family'; readonly family: string }
  | { readonly kind: 'delete-row' };

export interface ResolvedConditional {
  readonly predicate: ResolvedPredicate;
  readonly then: readonly ResolvedMutation[];
  readonly otherwise: readonly ResolvedMutation[];
}

/** What a mode carries, and no more. */
interface WriteParts extends Record<Carried, object> {
  readonly conditional: { readonly conditional: ResolvedConditional };
  readonly families: { readonly families: readonly ResolvedFamily[] };
  readonly cells: { readonly families: readonly ResolvedFamily[]; readonly timestamp: ResolvedTimestamp };
  readonly 'cells-or-deletes': {
    readonly families: readonly ResolvedFamily[];
    readonly timestamp: ResolvedTimestamp;
    readonly operation?: ResolvedOperation;
    /** Extent of `delete-row`: staged pipelines may not delete whole rows, because a marker lives in them. */
    readonly rowDelete: 'row' | 'declared-families';
    /** Which versions go where a column is deleted: those up to the timestamp of the record, or all. */
    readonly columnDeletes: ColumnDeletes;
  };
}

/** What a record becomes. Each mode carries only what it uses. */
export type ResolvedWrite = {
  [Mode in WriteMode]: { readonly mode: Mode } & WriteParts[(typeof WRITE_MODES)[Mode]['carries']];
}[WriteMode];

export type WireEncoding = 'binary' | 'json';

export type ResolvedFormat =
  | { readonly type: 'json' }
  | {
      readonly type: 'avro' | 'protobuf';
      /** `attribute` reads Pub/Sub's `googclient_schemaencoding` of every message. */
      readonly encoding: WireEncoding | 'attribute';
      /** The text of the schema: Avro's JSON, or a .proto file. */
      readonly schema: string;
      /** Protobuf: the full name of the record's message. */
      readonly message?: string;
      /** Resource name that `googclient_schemaname` must have; absent = not checked. */
      readonly schemaName?: string;
      /** Writer schemas by `googclient_schemarevisionid`; empty = `schema` reads every revision. */
      readonly revisions: Readonly<Record<string, string>>;
    };

export interface ResolvedMapping {
  readonly format: ResolvedFormat;
  readonly rowKey: ResolvedRowKey;
  readonly write: ResolvedWrite;
  /** The record is skipped when any of them holds. */
  readonly skipWhen: readonly ResolvedCondition[];
  /** Absent = the pipeline's table. */
  readonly destination?: ResolvedDestination;
}
