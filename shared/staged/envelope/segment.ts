import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { toError } from '../../base/errors.ts';
import { StoredBytesError } from './envelope-fields.ts';
import { type Envelope, readEnvelope } from './envelope.ts';

/**
 * What a segment's payload holds, format version 1. Pure. In the notation of protocol buffers:
 *
 * ```
 * message Segment {
 *   uint32 version = 1;        // first of all: 1
 *   repeated Item items = 2;   // in the order they were staged
 * }
 * message Item {
 *   bytes request = 1;             // a google.bigtable.v2.CheckAndMutateRowRequest
 *   string message_id = 2;
 *   uint32 record_index = 3;
 *   int64 publish_time_micros = 4;
 * }
 * ```
 *
 * All fields are always written, in this order. What a later version adds makes another version number: a reader that
 * does not know a segment must leave it alone.
 */
const VERSION = 1;

const SEGMENT_VERSION = 0x08;
const SEGMENT_ITEMS = 0x12;
const ITEM_REQUEST = 0x0a;
const ITEM_MESSAGE_ID = 0x12;
const ITEM_RECORD_INDEX = 0x18;
const ITEM_PUBLISH_TIME = 0x20;

/** The payload of a segment of these envelopes. */
export function encodeSegment(envelopes: readonly Envelope[]): Buffer {
  const writer = new BinaryWriter().uint32(SEGMENT_VERSION).uint32(VERSION);
  for (const { request, source } of envelopes) {
    writer.uint32(SEGMENT_ITEMS).fork();
    writer.uint32(ITEM_REQUEST).bytes(request);
    writer.uint32(ITEM_MESSAGE_ID).string(source.messageId);
    writer.uint32(ITEM_RECORD_INDEX).uint32(source.recordIndex);
    writer.uint32(ITEM_PUBLISH_TIME).int64(source.publishTimeMicros).join();
  }
  const bytes = writer.finish();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Reads a payload. Its envelopes share its memory. Throws a {@link StoredBytesError} for anything but version 1. */
export function decodeSegment(payload: Buffer): readonly Envelope[] {
  const reader = new BinaryReader(payload);
  const version = readVersion(reader);
  if (version !== VERSION) {
    throw new StoredBytesError(
      `a segment of format version ${version} cannot be read: this connector reads version ${VERSION}; it stays stored until a version that wrote it runs again`,
    );
  }
  const envelopes: Envelope[] = [];
  try {
    while (reader.pos < reader.len) envelopes.push(readItem(payload, reader));
  } catch (error) {
    throw unreadable(`items[${envelopes.length}]`, error);
  }
  return envelopes;
}

/** The most that an item adds to its payload, in bytes: a bound, exact but for the lengths of small numbers. */
export const itemBytes = ({ request, source }: Envelope): number =>
  request.length + Buffer.byteLength(source.messageId) + ITEM_FRAME_BYTES;

/** Tags (5), lengths (3 × 5), record index (5) and publish time (10) at their longest. */
const ITEM_FRAME_BYTES = 35;

/** Version's tag and number. */
export const EMPTY_SEGMENT_BYTES = 2;

function readVersion(reader: BinaryReader): number {
  try {
    expectTag(reader, SEGMENT_VERSION);
    return reader.uint32();
  } catch (error) {
    throw unreadable('version', error);
  }
}

function readItem(payload: Buffer, reader: BinaryReader): Envelope {
  expectTag(reader, SEGMENT_ITEMS);
  const end = endOf(reader);
  expectTag(reader, ITEM_REQUEST);
  const requestEnd = endOf(reader);
  const request = payload.subarray(reader.pos, requestEnd);
  reader.pos = requestEnd;
  expectTag(reader, ITEM_MESSAGE_ID);
  const messageId = reader.string();
  expectTag(reader, ITEM_RECORD_INDEX);
  const recordIndex = reader.uint32();
  expectTag(reader, ITEM_PUBLISH_TIME);
  const publishTimeMicros = BigInt(reader.int64());
  if (reader.pos !== end) throw new StoredBytesError('an item must be as long as it says');
  return readEnvelope(request, { messageId, recordIndex, publishTimeMicros });
}

/** Reads a length, and gives where what is so long ends. */
function endOf(reader: BinaryReader): number {
  const length = reader.uint32();
  const end = reader.pos + length;
  if (end > reader.len) throw new StoredBytesError('a field must be as long as it says');
  return end;
}

function expectTag(reader: BinaryReader, tag: number): void {
  const found = reader.uint32();
  if (found !== tag) throw new StoredBytesError(`a field must have the tag ${tag}, got ${found}`);
}

const unreadable = (what: string, error: unknown): StoredBytesError =>
  new StoredBytesError(`the ${what} of a segment cannot be read: ${toError(error).message}`, { cause: error });
