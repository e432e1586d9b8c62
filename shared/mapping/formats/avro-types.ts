import avro from 'avsc';
import {
  derived,
  ExactArray,
  ExactBoolean,
  ExactDouble,
  ExactFloat,
  ExactMap,
  ExactString,
  ExactUnion,
  exactLong,
  internalsOf,
} from './avro-exact.ts';

/** What a logical type makes of the primitive under it. Those that are not listed stay the primitive. */
export type LogicalKind =
  | { readonly kind: 'instant'; readonly unit: Unit; readonly isLocal: boolean }
  | { readonly kind: 'date' }
  | { readonly kind: 'time'; readonly unit: Unit }
  | { readonly kind: 'decimal'; readonly scale: number };

type Unit = keyof typeof NANOS;

/** Nanoseconds of a unit. */
export const NANOS = { millis: 1_000_000n, micros: 1000n, nanos: 1n } as const;

export interface AvroTypes {
  readonly type: avro.types.RecordType;
  /** Those of its revisions too: to read one schema as another, the logical types of both have to be known. */
  readonly logical: Map<avro.Type, LogicalKind>;
}

/** Gives a binary record of another schema as one of the reader's. */
export type AvroResolver = NonNullable<Parameters<avro.Type['fromBuffer']>[1]>;

/**
 * Compiles the Avro schema of a record for reading without loss: longs are bigint, unions name their branch, logical
 * types are known by the very type object that carries them (the library forgets the ones it has no class for), and
 * malformed bytes are refused. Throws an `Error` that says what is wrong with the schema.
 */
export const compileAvro = (schema: string): AvroTypes => compileInto(schema, new Map());

/** A schema that records were written with, and the way from it to the schema that they are read as. */
export interface AvroRevision {
  readonly writer: AvroTypes;
  readonly resolver: AvroResolver;
}

/**
 * Compiles a revision for reading as `reader`, by Avro's schema resolution. Records, enums and fixed match by their
 * unqualified name where the full one has changed. A logical type matches itself alone: another scale or unit would
 * change every value. Throws an `Error` for a schema that the reader cannot read.
 */
export function compileRevision(reader: AvroTypes, schema: string): AvroRevision {
  const writer = compileInto(schema, reader.logical);
  const resolve = (options: object): AvroResolver => reader.type.createResolver.call(reader.type, writer.type, options);
  try {
    return { writer, resolver: resolve({}) };
  } catch {
    return { writer, resolver: resolve({ ignoreNamespaces: true }) };
  }
}

function compileInto(schema: string, logical: Map<avro.Type, LogicalKind>): AvroTypes {
  const typeHook = (written: avro.Schema, options: HookOptions): avro.Type | undefined => {
    if (Array.isArray(written)) return new ExactUnion(written, options);
    const attributes: Attributes = typeof written === 'string' ? { type: written } : written;
    if (attributes.name === '__proto__' || attributes.fields?.some(({ name }) => name === '__proto__')) {
      throw new Error('nothing can be named __proto__');
    }
    const kind = logicalKind(attributes);
    const type = exactType(attributes, options) ?? (kind && plainType(attributes, options));
    return type && kind ? carrying(type, kind, logical, options) : type;
  };
  const options = { wrapUnions: 'always', typeHook } as const;
  const type = avro.Type.forSchema(parseSchema(schema), options);
  if (!isRecord(type)) throw new Error('the outermost type must be a record');
  return { type, logical };
}

/** JSON whose integers keep their digits: a double would round the default of a long. */
const parseSchema = (text: string): avro.Schema =>
  JSON.parse(text, (_name, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
      ? BigInt(context?.source ?? 0)
      : value,
  ) as avro.Schema;

interface Attributes {
  readonly type?: unknown;
  readonly logicalType?: unknown;
  readonly name?: unknown;
  readonly fields?: readonly { readonly name?: unknown }[];
  readonly scale?: unknown;
}

/** The library hands its hook the options of the schema, with the types that have a name so far. */
interface HookOptions {
  readonly registry: Record<string, avro.Type>;
}

function exactType(attributes: Attributes, options: HookOptions): avro.Type | undefined {
  switch (attributes.type) {
    case 'string':
      return new ExactString();
    case 'boolean':
      return new ExactBoolean();
    case 'double':
      return new ExactDouble();
    case 'float':
      return new ExactFloat();
    case 'long':
      return exactLong();
    case 'map':
      return new ExactMap(attributes as avro.Schema, options);
    case 'array':
      return new ExactArray(attributes as avro.Schema, options);
    default:
      return undefined;
  }
}

/** Primitives come as new objects, because the library would share one among all their uses. */
function plainType(attributes: Attributes, options: HookOptions): avro.Type {
  if (attributes.type === 'int') return new avro.types.IntType();
  if (attributes.type === 'bytes') return new avro.types.BytesType();
  return new avro.types.FixedType(attributes as avro.Schema, options);
}

/** The type as the carrier of a logical type, by which it is known and which it wants of what it is to read. */
function carrying(
  type: avro.Type,
  kind: LogicalKind,
  logical: Map<avro.Type, LogicalKind>,
  { registry }: HookOptions,
): avro.Type {
  const { _update: update } = internalsOf(type);
  const carrier = derived(type, {
    _update(resolver, writer, options) {
      const written = logical.get(writer);
      if (written && describe(written) !== describe(kind)) {
        throw new Error(`cannot read ${describe(written)} as ${describe(kind)}`);
      }
      update.call(carrier, resolver, writer, options);
    },
  });
  logical.set(carrier, kind);
  if (carrier.name !== undefined) registry[carrier.name] = carrier;
  return carrier;
}

function describe(logical: LogicalKind): string {
  switch (logical.kind) {
    case 'instant':
      return `${logical.isLocal ? 'local-' : ''}timestamp-${logical.unit}`;
    case 'date':
      return 'date';
    case 'time':
      return `time-${logical.unit}`;
    case 'decimal':
      return `decimal of scale ${logical.scale}`;
  }
}

function logicalKind({ type, logicalType, scale }: Attributes): LogicalKind | undefined {
  const name = typeof logicalType === 'string' ? logicalType : '';
  const [, family, unit] = /^(timestamp|local-timestamp|time)-(millis|micros|nanos)$/.exec(name) ?? [];
  if (unit !== undefined && (type === 'long' || type === 'int')) {
    const of = unit as Unit;
    return family === 'time'
      ? { kind: 'time', unit: of }
      : { kind: 'instant', unit: of, isLocal: family === 'local-timestamp' };
  }
  if (name === 'date' && type === 'int') return { kind: 'date' };
  if (name === 'decimal' && (type === 'bytes' || type === 'fixed')) {
    return { kind: 'decimal', scale: typeof scale === 'number' ? scale : 0 };
  }
  return undefined;
}

/** The kinds of an Avro type, as questions that narrow it. */
export const isRecord = (type: avro.Type): type is avro.types.RecordType => avro.Type.isType(type, 'record');
export const isUnion = (type: avro.Type): type is avro.types.WrappedUnionType => avro.Type.isType(type, 'union');
export const isMap = (type: avro.Type): type is avro.types.MapType => avro.Type.isType(type, 'map');
export const isArray = (type: avro.Type): type is avro.types.ArrayType => avro.Type.isType(type, 'array');
export const isFixed = (type: avro.Type): type is avro.types.FixedType => avro.Type.isType(type, 'fixed');
export const isEnum = (type: avro.Type): type is avro.types.EnumType => avro.Type.isType(type, 'enum');

/** The type of a map's values. */
export const valuesOf = (type: avro.types.MapType): avro.Type => type.valuesType as avro.Type;
