import { RecordError } from '../../base/errors.ts';
import type { ResolvedFormat } from '../declared/resolved.ts';
import type { FieldValue } from '../values/field-value.ts';
import { type AvroResolver, type AvroTypes, compileAvro, compileRevision } from './avro-types.ts';
import { avroReader } from './avro-values.ts';
import { decodeJson } from './json.ts';
import type { RecordDecoder } from './record-decoder.ts';
import { schemaOfMessage } from './schema-attributes.ts';

type AvroFormat = Extract<ResolvedFormat, { type: 'avro' | 'protobuf' }>;

/**
 * Avro records, binary or JSON. A record of a listed revision is decoded with the schema it was written with and
 * resolved to the mapping's (fields added with their defaults, numbers promoted), in either encoding.
 */
export function avroDecoder(format: AvroFormat): RecordDecoder {
  const schema = compileAvro(format.schema);
  const read = avroReader(schema);
  const revisions = new Map(
    Object.entries(format.revisions).map(([id, text]) => {
      const { writer, resolver } = compileRevision(schema, text);
      return [id, { resolver, toBinary: jsonToBinary(writer) }] as const;
    }),
  );
  return {
    settle: (value) => value,
    decode: ({ data, message }) => {
      const { encoding, revision: id } = schemaOfMessage(message, format);
      const revision = id === undefined ? undefined : revisions.get(id);
      if (encoding === 'binary') return read(decodeBinary(schema, data, revision?.resolver), '');
      if (!revision) return read(decodeJson(data), '');
      return read(decodeBinary(schema, revision.toBinary(data), revision.resolver), '');
    },
  };
}

/** JSON in the encoding of its own schema as binary Avro, which the one resolver of both encodings reads. */
function jsonToBinary(writer: AvroTypes): (data: Buffer) => Buffer {
  const datumOf = avroReader(writer, 'datum');
  return (data) => writer.type.toBuffer(datumOf(decodeJson(data), ''));
}

function decodeBinary({ type }: AvroTypes, data: Buffer, resolver: AvroResolver | undefined): FieldValue {
  try {
    return type.fromBuffer(data, resolver) as FieldValue;
  } catch (cause) {
    if (cause instanceof RecordError) throw cause;
    // The library's errors speak of the schema and of positions, not of values.
    throw new RecordError('record: must be binary Avro of the schema, got other bytes', { cause });
  }
}
