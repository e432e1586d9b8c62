import type avro from 'avsc';
import { RecordError } from '../../base/errors.ts';
import type { ResolvedFormat } from '../declared/resolved.ts';
import type { FieldValue } from '../values/field-value.ts';
import { compileAvro } from './avro-types.ts';
import { avroReader } from './avro-values.ts';
import { decodeJson } from './json.ts';
import type { RecordDecoder } from './record-decoder.ts';
import { schemaOfMessage } from './schema-attributes.ts';

type AvroFormat = Extract<ResolvedFormat, { type: 'avro' | 'protobuf' }>;

/**
 * Avro records, binary or JSON. A record of a listed revision is decoded with the schema it was written with and
 * resolved to the mapping's (fields added with their defaults, numbers promoted).
 */
export function avroDecoder(format: AvroFormat): RecordDecoder {
  const schema = compileAvro(format.schema);
  const read = avroReader(schema);
  const resolvers = new Map(
    Object.entries(format.revisions).map(([id, text]) => [id, schema.type.createResolver(compileAvro(text).type)]),
  );
  return {
    settle: (value) => value,
    decode: ({ data, message }) => {
      const { encoding, revision } = schemaOfMessage(message, format);
      if (encoding === 'json') return read(decodeJson(data), '');
      const resolver = revision === undefined ? undefined : resolvers.get(revision);
      return read(decodeBinary(schema.type, data, resolver), '');
    },
  };
}

function decodeBinary(type: avro.Type, data: Buffer, resolver: Parameters<avro.Type['fromBuffer']>[1]): FieldValue {
  try {
    return type.fromBuffer(data, resolver) as FieldValue;
  } catch (cause) {
    // The library's errors speak of the schema and of positions, not of values.
    throw new RecordError('record: must be binary Avro of the schema, got other bytes', { cause });
  }
}
