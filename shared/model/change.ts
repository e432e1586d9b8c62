/** Nanoseconds since the epoch. */
export type Nanos = bigint;

/**
 * What one atomic write, or one collection of garbage, did to one row, as a change stream tells it. A plain value: its
 * buffers are its own, or slices of a message that held little else.
 */
export interface Change {
  readonly rowKey: Buffer;
  readonly type: ChangeType;
  /** The cluster that took the write; empty of a collection, which every cluster does for itself. */
  readonly sourceCluster: string;
  /** When it was committed. Neither unique in a row nor, across clusters, in the order of the stream. */
  readonly commitTime: Nanos;
  /** Tells changes of one row, commit time and cluster apart. */
  readonly tieBreaker: number;
  /** Where its partition goes on after it. A position, and no identity. */
  readonly token: string;
  /** The service's estimate for the partition: what is yet to come was committed no earlier, or was late. */
  readonly lowWatermark: Nanos;
  /** In the order in which they were applied. May be empty. */
  readonly entries: readonly ChangeEntry[];
  /** The place that each entry has in the change of the service, where a filter left some out; absent: its own. */
  readonly places?: readonly number[];
  /** An estimate of its size that is the same at every reading, and not the billed one; at least 1. */
  readonly bytes: number;
}

export type ChangeType = 'USER' | 'GARBAGE_COLLECTION';

/** One step of a change. */
export type ChangeEntry =
  | {
      readonly kind: 'set-cell';
      readonly family: string;
      readonly qualifier: Buffer;
      /** As it is stored: the service's own clock was read already. */
      readonly timestampMicros: bigint;
      readonly value: Buffer;
    }
  | {
      readonly kind: 'delete-cells';
      readonly family: string;
      readonly qualifier: Buffer;
      readonly timestampRange: TimestampRange;
    }
  | { readonly kind: 'delete-family'; readonly family: string }
  | {
      /** The input is added to the aggregate, or is itself the state of one that is merged into it. */
      readonly kind: 'add-to-cell' | 'merge-to-cell';
      readonly family: string;
      readonly qualifier: ChangeValue;
      readonly timestamp: ChangeValue;
      readonly input: ChangeValue;
    };

/** Versions of a cell. */
export interface TimestampRange {
  /** Inclusive; absent: from the first version. */
  readonly startMicros?: bigint;
  /** Exclusive; absent: to the last version. */
  readonly endMicros?: bigint;
}

/** A value of an aggregate. */
export type ChangeValue =
  | { readonly kind: 'raw-value'; readonly value: Buffer }
  | { readonly kind: 'raw-timestamp'; readonly micros: bigint }
  | { readonly kind: 'int64'; readonly value: bigint };
