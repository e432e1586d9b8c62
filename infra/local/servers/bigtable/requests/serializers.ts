import { BinaryWriter } from '@bufbuild/protobuf/wire';
import {
  BigtableDefinition,
  MutateRowsResponse,
  ReadRowsResponse,
} from '../../../../../shared/proto/google/bigtable/v2/bigtable.ts';

const { methods } = BigtableDefinition;

/** The generated API, with the two encoders that carry bulk made cheaper. The bytes are the same. */
export const BULK_BIGTABLE = {
  ...BigtableDefinition,
  methods: {
    ...methods,
    readRows: { ...methods.readRows, responseType: reusingWriter(ReadRowsResponse) },
    mutateRows: { ...methods.mutateRows, responseType: reusingWriter(MutateRowsResponse) },
  },
};

interface Encoded<Message> {
  encode(message: Message, writer?: BinaryWriter): BinaryWriter;
  decode(bytes: Uint8Array): Message;
}

/**
 * Encodes with one writer for all messages. A fresh writer doubles its buffer from nothing for every message; a writer
 * that has finished keeps the buffer it grew, and hands out a copy of what was written.
 */
function reusingWriter<Message>(type: Encoded<Message>): Encoded<Message> {
  let writer = new BinaryWriter();
  return {
    decode: (bytes) => type.decode(bytes),
    encode: (message) => {
      try {
        return type.encode(message, writer);
      } catch (error) {
        // What was written of a message that cannot be encoded must not start the next one.
        writer = new BinaryWriter();
        throw error;
      }
    },
  };
}
