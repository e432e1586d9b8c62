import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { serviceOf } from '../rpc/definition.ts';
import {
  BigtableDefinition,
  MutateRowsResponse,
  ReadRowsResponse,
} from '../../../../shared/proto/google/bigtable/v2/bigtable.ts';

const BIGTABLE = serviceOf(BigtableDefinition);

/** The generated service, with the two serializers that carry bulk made cheaper. The bytes are the same. */
export const BulkBigtableService = {
  ...BIGTABLE,
  readRows: {
    ...BIGTABLE.readRows,
    responseSerialize: reusingWriter<ReadRowsResponse>((message, writer) => ReadRowsResponse.encode(message, writer)),
  },
  mutateRows: {
    ...BIGTABLE.mutateRows,
    responseSerialize: reusingWriter<MutateRowsResponse>((message, writer) =>
      MutateRowsResponse.encode(message, writer),
    ),
  },
};

/**
 * Encodes with one writer for all messages. A fresh writer doubles its buffer from nothing for every message; a writer
 * that has finished keeps the buffer it grew, and hands out a copy of what was written.
 */
function reusingWriter<Message>(
  encode: (message: Message, writer: BinaryWriter) => BinaryWriter,
): (message: Message) => Buffer {
  let writer = new BinaryWriter();
  return (message) => {
    try {
      const bytes = encode(message, writer).finish();
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    } catch (error) {
      // What was written of a message that cannot be encoded must not start the next one.
      writer = new BinaryWriter();
      throw error;
    }
  };
}
