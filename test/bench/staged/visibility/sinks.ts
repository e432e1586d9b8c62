import { FAMILY, MARKERS, TABLE } from '../envelopes.ts';

/** What is compared: when the rows of the three ways to write can be read. */
export const SINKS = ['bulk', 'on receipt', 'staged'] as const;

export type SinkName = (typeof SINKS)[number];

export const CHECKPOINT_INTERVAL_MILLIS = 2000;

/** The topic of the one pipeline of a configuration. */
export const TOPIC = 'projects/bench/topics/records';

const STAGED = { kind: 'staged-sink', markerFamily: MARKERS };

const KINDS: Readonly<Record<SinkName, object>> = {
  bulk: { kind: 'bulk-sink' },
  'on receipt': { ...STAGED, commit: 'on-receipt' },
  staged: { ...STAGED, checkpointInterval: `${CHECKPOINT_INTERVAL_MILLIS}ms` },
};

/** A configuration with the sink as its one pipeline; records are entries as JSON. */
export const configOf = (sink: SinkName): object => ({
  pipelines: { records: { topic: TOPIC, ...TABLE, serializer: 'entry', ...KINDS[sink] } },
});

export const TABLES = { tables: { [TABLE.table]: { families: { [FAMILY]: {}, [MARKERS]: {} } } } };

export interface VisibilityArgument {
  readonly sink: SinkName;
  readonly warmUpMessages: number;
  readonly messages: number;
  readonly messagesPerSecond: number;
}

export interface VisibilityResult {
  readonly p50Millis: number;
  readonly p95Millis: number;
}
