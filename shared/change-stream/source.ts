import type { Nanos } from '../model/change.ts';

/** The document of a source, but for the lease. Written by coordinators, and by people who pause or restart it. */
export interface Source {
  /** Grows with every commit: no two are alike. */
  readonly commits: number;
  readonly status: SourceStatus;
  /** Whatever a slot reads belongs to it: partitions of another one are nobody's. Grows by one with every start. */
  readonly generation: number;
  /** The options that it was started with, as JSON, and what they mean to what is stored: not read here. */
  readonly options: string;
  /** Where it starts. Resolved once. */
  readonly startTime?: Nanos;
  /** A bounded run reads changes that were committed before it. Absent: it goes on. */
  readonly endTime?: Nanos;
  /** How long the service keeps changes, and when that was read. Absent where it may not be read. */
  readonly retention?: Retention;
  /** What holds for the whole table, and what to do: why it is stopped. */
  readonly problem?: string;
  /** While it is `starting` in more than one commit: of its partitions, those that are written. */
  readonly written?: number;
  /** Generations whose partitions nobody needs any more, until they are gone. */
  readonly dead: readonly number[];
}

export type SourceStatus =
  /** Its partitions are not all there yet. Nothing is read. */
  | 'starting'
  | 'reading'
  /** A bounded run was read to its end. */
  | 'done'
  /** Something that holds for the whole table is in the way. A coordinator tries again every minute. */
  | 'stopped'
  /** By a person, until a person says otherwise. */
  | 'paused';

export interface Retention {
  readonly millis: number;
  /** Milliseconds since the epoch. */
  readonly fetchedAt: number;
}
