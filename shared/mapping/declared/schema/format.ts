import { z } from 'zod';
import { options, words } from './words.ts';

const schemaText = words('The schema itself: JSON for Avro, the text of a .proto file for Protobuf.');
const schemaFile = words('File that holds the schema, relative to the configuration file. Excludes `schema`.');

export const formatSchema = z
  .union([
    z.literal('json'),
    options({
      type: z.enum(['json', 'avro', 'protobuf']).describe('Format of a record. JSON numbers keep all their digits.'),
      encoding: z
        .enum(['binary', 'json', 'attribute'])
        .optional()
        .describe(
          'Encoding of Avro or Protobuf: `attribute` reads the message attribute googclient_schemaencoding, which Pub/Sub sets on topics with a schema, and refuses a message without it. Default `attribute`. Not for JSON.',
        ),
      schema: schemaText.optional(),
      schemaFile: schemaFile.optional(),
      message: words(
        'Protobuf: name of the message that a record is, with its package. Default: the only message of the file.',
      ).optional(),
      schemaName: words(
        'Resource name, projects/p/schemas/s, that the attribute googclient_schemaname must have where a message carries it. Default: not checked.',
      ).optional(),
      revisions: z
        .record(
          z.string().regex(/^[0-9a-f]{8}$/, { error: 'must be a revision id of 8 hexadecimal digits' }),
          options({ schema: schemaText.optional(), schemaFile: schemaFile.optional() }),
        )
        .optional()
        .describe(
          'Schemas that records were written with, by revision id (attribute googclient_schemarevisionid). When set, a message of another revision is refused; Avro records are resolved to `schema`, which must be able to read them: a logical type of another scale or unit is refused. Default: `schema` reads every revision, which for binary Avro is only right while the schema does not change.',
        ),
    }),
  ])
  .describe('Format of a record. Default `json`.');
