import { BinaryReader } from '@bufbuild/protobuf/wire';
import type { RecordPlace } from './tally.ts';

/** What is set apart of one segment, as its document tells of it. */
export interface SetApart {
  /** Of the segment's checkpoint. */
  readonly checkpoint: number;
  /** The records that are open, in their order. */
  readonly records: readonly RecordPlace[];
}

/** Numbers of the fields: a segment's items, and what an item says of its source. */
const ITEMS = 2;
const MESSAGE_ID = 2;
const RECORD_INDEX = 3;

/**
 * Reads a rest past the connector: the number in its id, and of its payload where each envelope came from. Pure.
 *
 * @param id `lane-number-random`.
 */
export function readSetApart(id: string, payload: Uint8Array): SetApart {
  const records: RecordPlace[] = [];
  const reader = new BinaryReader(payload);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === ITEMS) records.push(readPlace(reader.bytes()));
    else reader.skip(type);
  }
  return { checkpoint: Number(id.split('-')[1]), records };
}

function readPlace(item: Uint8Array): RecordPlace {
  const reader = new BinaryReader(item);
  let place: RecordPlace = { messageId: '', recordIndex: 0 };
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === MESSAGE_ID) place = { ...place, messageId: reader.string() };
    else if (field === RECORD_INDEX) place = { ...place, recordIndex: reader.uint32() };
    else reader.skip(type);
  }
  return place;
}
