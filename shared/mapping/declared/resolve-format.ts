import type avro from 'avsc';
import {
  type AvroTypes,
  compileAvro,
  compileRevision,
  isArray,
  isMap,
  isRecord,
  isUnion,
  valuesOf,
} from '../formats/avro-types.ts';
import { parseMessage, protobufHas } from '../formats/protobuf-schema.ts';
import { memberPath, refuseAll, type Report } from './problems.ts';
import type { ResolvedFormat } from './resolved.ts';
import type { MappingInput } from './schema/mapping.ts';

type FormatInput = Exclude<NonNullable<MappingInput['format']>, string>;
interface SchemaInput {
  readonly schema?: string | undefined;
  readonly schemaFile?: string | undefined;
}

/** Gives the text of a schema file. Throws when it cannot. Only the caller knows about files. */
export type ReadSchemaFile = (file: string) => string;

export interface FormatAndSchema {
  readonly format: ResolvedFormat;
  /** Absent for JSON, whose records have no declared fields. */
  readonly schema?: RecordSchema;
}

/** Resolves what the bytes of a record are. A schema that cannot be read or parsed is a problem. */
export function resolveFormat(
  input: MappingInput['format'],
  path: string,
  readFile: ReadSchemaFile,
  report: Report,
): FormatAndSchema | undefined {
  if (input === undefined || typeof input === 'string') return { format: { type: 'json' } };
  const { type, ...others } = input;
  if (type === 'json') {
    refuseAll(others, 'does not apply to the format json', path, report);
    return { format: { type: 'json' } };
  }
  if (type === 'avro' && input.message !== undefined) {
    report.add(memberPath(path, 'message'), 'does not apply to the format avro', input.message);
  }
  const message = type === 'protobuf' ? input.message : undefined;
  const read = (at: string, schema: SchemaInput): SchemaText | undefined =>
    readSchema({ path: at, type, message, readFile }, schema, report);
  const main = read(path, input);
  const revisions = Object.entries(input.revisions ?? {}).flatMap(([id, schema]) => {
    const revision = read(memberPath(path, 'revisions', id), schema);
    return revision ? [[id, revision.text] as const] : [];
  });
  if (!main) return undefined;
  const { avro: reader } = main.schema;
  for (const [id, text] of reader ? revisions : []) {
    const at = memberPath(path, 'revisions', id);
    attempt(() => reader && compileRevision(reader, text), at, 'must be readable as schema', text, report);
  }
  return {
    schema: main.schema,
    format: {
      type,
      encoding: input.encoding ?? 'attribute',
      schema: main.text,
      revisions: Object.fromEntries(revisions),
      ...(main.schema.message !== undefined && { message: main.schema.message }),
      ...schemaName(input),
    },
  };
}

const schemaName = ({ schemaName: name }: FormatInput): { schemaName?: string } =>
  name === undefined ? {} : { schemaName: name };

interface SchemaText {
  readonly text: string;
  readonly schema: RecordSchema;
}

interface SchemaPlace {
  readonly path: string;
  readonly type: 'avro' | 'protobuf';
  readonly message: string | undefined;
  readonly readFile: ReadSchemaFile;
}

function readSchema(place: SchemaPlace, { schema, schemaFile }: SchemaInput, report: Report): SchemaText | undefined {
  const { path, type, message, readFile } = place;
  if ((schema === undefined) === (schemaFile === undefined)) {
    report.add(path, 'must have exactly one of schema and schemaFile', { schema, schemaFile });
    return undefined;
  }
  const option = memberPath(path, schema === undefined ? 'schemaFile' : 'schema');
  const text =
    schema ?? attempt(() => readFile(schemaFile ?? ''), option, 'must be a file that can be read', schemaFile, report);
  if (text === undefined) return undefined;
  const got = schemaFile ?? text;
  const read = attempt(() => readRecordSchema(type, text, message), option, `must be a schema of ${type}`, got, report);
  return read && { text, schema: read };
}

/** The result of something that throws for what its author wrote; the reason becomes part of the problem. */
function attempt<Result>(
  run: () => Result,
  path: string,
  rule: string,
  got: unknown,
  report: Report,
): Result | undefined {
  try {
    return run();
  } catch (error) {
    report.add(path, `${rule}: ${error instanceof Error ? error.message : String(error)}`, got);
    return undefined;
  }
}

/**
 * The schemas of Avro and Protobuf as the configuration needs them: whether the text is one, and which paths its
 * records have. A misspelt path is then found before the first record.
 */
export interface RecordSchema {
  /** Whether records of this schema can have something at the path. */
  readonly has: (path: readonly string[]) => boolean;
  /** Protobuf: the full name of the record's message. */
  readonly message?: string;
  readonly avro?: AvroTypes;
}

/** Reads a schema. Throws an `Error` whose message says what is wrong with the text. */
export function readRecordSchema(type: 'avro' | 'protobuf', text: string, message?: string): RecordSchema {
  if (type === 'avro') return readAvro(text);
  const parsed = parseMessage(text, message);
  return { has: (path) => protobufHas(parsed, path), message: parsed.fullName.slice(1) };
}

function readAvro(text: string): RecordSchema {
  const types = compileAvro(text);
  return { has: (path) => avroHas(types.type, path), avro: types };
}

const INDEX = /^(?:0|[1-9]\d*)$/;

function avroHas(type: avro.Type, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return true;
  if (isUnion(type)) return type.types.some((branch) => avroHas(branch, [name, ...rest]));
  if (isMap(type)) return avroHas(valuesOf(type), rest);
  if (isArray(type)) return INDEX.test(name) && avroHas(type.itemsType, rest);
  const field = isRecord(type) ? type.fields.find((candidate) => candidate.name === name) : undefined;
  return field !== undefined && avroHas(field.type, rest);
}
