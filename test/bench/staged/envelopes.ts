import { identityOf } from '../../../shared/model/identity.ts';
import type { Mutation } from '../../../shared/model/mutation.ts';
import { type TableName, tableName } from '../../../shared/model/table-name.ts';
import { createEnvelope } from '../../../shared/staged/envelope/create-envelope.ts';
import type { Envelope } from '../../../shared/staged/envelope/envelope.ts';
import { encodeSegment } from '../../../shared/staged/envelope/segment.ts';

/** The table of every staged case. */
export const TABLE: TableName = tableName('bench', 'bench', 'staged');
export const FAMILY = 'f';
export const QUALIFIER = 'q';
export const SUMS = 'sums';
export const MARKERS = 'markers';
export const PIPELINE = 'bench';

/** A fixed time: what the clock costs is not what is measured. */
export const TIMESTAMP_MICROS = 1_700_000_000_000_000n;

/** 16 bytes, another one for every number. */
export const keyOf = (row: number): string => `row#${String(row).padStart(12, '0')}`;

/** The envelope of the record of message number `message`, as a sink makes it. */
export const envelopeOf = (message: number, rowKey: string, mutation: Mutation): Envelope =>
  createEnvelope({
    identity: identityOf({
      pipeline: PIPELINE,
      subscription: 'projects/bench/subscriptions/records',
      messageId: String(message),
      recordIndex: 0,
    }),
    table: TABLE,
    appProfileId: '',
    markerFamily: MARKERS,
    markerTimestampMicros: 0n,
    entry: { rowKey: Buffer.from(rowKey), mutations: [mutation] },
    source: { messageId: String(message).padStart(17, '0'), recordIndex: 0, publishTimeMicros: TIMESTAMP_MICROS },
  });

export const cellOf = (value: Buffer): Mutation => ({
  kind: 'setCell',
  family: FAMILY,
  qualifier: Buffer.from(QUALIFIER),
  timestampMicros: TIMESTAMP_MICROS,
  value,
});

/** What the marker and the rest of a request add to a value of about this size. */
const overheadBytes = envelopeOf(0, keyOf(0), cellOf(Buffer.alloc(512))).request.length - 512;

const KIB = Buffer.alloc(1024 - overheadBytes, 'the quick brown fox jumps over the lazy dog ');

/** Envelopes of rows of their own whose requests are 1 KiB each. */
export const kibEnvelopes = (count: number): Envelope[] =>
  Array.from({ length: count }, (_, message) => envelopeOf(message, keyOf(message), cellOf(KIB)));

/** The payloads of segments with this many of the envelopes each. */
export const segmentsOf = (envelopes: readonly Envelope[], perSegment: number): Buffer[] =>
  Array.from({ length: Math.ceil(envelopes.length / perSegment) }, (_, segment) =>
    encodeSegment(envelopes.slice(segment * perSegment, (segment + 1) * perSegment)),
  );
