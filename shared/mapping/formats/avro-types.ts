import avro from 'avsc';

/** What a logical type makes of the primitive under it. Those that are not listed stay the primitive. */
export type LogicalKind =
  | { readonly kind: 'instant'; readonly nanosPerUnit: bigint }
  | { readonly kind: 'date' }
  | { readonly kind: 'time'; readonly nanosPerUnit: bigint }
  | { readonly kind: 'decimal'; readonly scale: number };

export interface AvroTypes {
  readonly type: avro.Type;
  readonly logical: ReadonlyMap<avro.Type, LogicalKind>;
}

/**
 * Compiles an Avro schema for reading without loss: longs are bigint, unions name their branch, logical types are
 * known by the very type object that carries them (the library forgets the ones it has no class for).
 */
export function compileAvro(schema: string): AvroTypes {
  const logical = new Map<avro.Type, LogicalKind>();
  const typeHook = (written: avro.Schema, options: object): avro.Type | undefined => {
    if (written === 'long') return bigintLong();
    if (typeof written !== 'object' || Array.isArray(written)) return undefined;
    const attributes = written as Attributes;
    const kind = logicalKind(attributes);
    if (attributes.type !== 'long' && !kind) return undefined;
    // Without the attribute the hook lets the library build the plain type, under its name if it has one.
    const plain = { ...attributes, logicalType: undefined };
    const type = attributes.type === 'long' ? bigintLong() : plainType(plain, options);
    if (kind) logical.set(type, kind);
    return type;
  };
  const type = avro.Type.forSchema(JSON.parse(schema) as avro.Schema, { wrapUnions: 'always', typeHook });
  return { type, logical };
}

interface Attributes {
  readonly type?: unknown;
  readonly logicalType?: unknown;
  readonly scale?: unknown;
}

/** Primitives come as new objects, because the library would share one among all their uses. */
function plainType(attributes: Attributes, options: object): avro.Type {
  if (attributes.type === 'int') return new avro.types.IntType();
  if (attributes.type === 'bytes') return new avro.types.BytesType();
  return avro.Type.forSchema(attributes as avro.Schema, options);
}

const NANOS = { millis: 1_000_000n, micros: 1000n, nanos: 1n } as const;

function logicalKind({ type, logicalType, scale }: Attributes): LogicalKind | undefined {
  const name = typeof logicalType === 'string' ? logicalType : '';
  const [, family, unit] = /^(timestamp|local-timestamp|time)-(millis|micros|nanos)$/.exec(name) ?? [];
  if (unit !== undefined && (type === 'long' || type === 'int')) {
    const nanosPerUnit = NANOS[unit as keyof typeof NANOS];
    return { kind: family === 'time' ? 'time' : 'instant', nanosPerUnit };
  }
  if (name === 'date' && type === 'int') return { kind: 'date' };
  if (name === 'decimal' && (type === 'bytes' || type === 'fixed')) {
    return { kind: 'decimal', scale: typeof scale === 'number' ? scale : 0 };
  }
  return undefined;
}

/** A long whose values are bigint: a double cannot hold them all. */
const bigintLong = (): avro.Type =>
  avro.types.LongType.__with({
    fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
    toBuffer: (value: bigint) => {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(value);
      return bytes;
    },
    fromJSON: BigInt,
    toJSON: String,
    isValid: (value: unknown) => typeof value === 'bigint',
    compare: (left: bigint, right: bigint) => (left < right ? -1 : Number(left > right)),
  });

/** The kinds of an Avro type, as questions that narrow it. */
export const isRecord = (type: avro.Type): type is avro.types.RecordType => avro.Type.isType(type, 'record');
export const isUnion = (type: avro.Type): type is avro.types.WrappedUnionType => avro.Type.isType(type, 'union');
export const isMap = (type: avro.Type): type is avro.types.MapType => avro.Type.isType(type, 'map');
export const isArray = (type: avro.Type): type is avro.types.ArrayType => avro.Type.isType(type, 'array');
export const isFixed = (type: avro.Type): type is avro.types.FixedType => avro.Type.isType(type, 'fixed');
export const isEnum = (type: avro.Type): type is avro.types.EnumType => avro.Type.isType(type, 'enum');

/** The type of a map's values. */
export const valuesOf = (type: avro.types.MapType): avro.Type => type.valuesType as avro.Type;
