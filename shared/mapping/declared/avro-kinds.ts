import avro from 'avsc';

/** The kinds of an Avro type, as questions that narrow it. */
export const isRecord = (type: avro.Type): type is avro.types.RecordType => avro.Type.isType(type, 'record');
export const isUnion = (type: avro.Type): type is avro.types.WrappedUnionType => avro.Type.isType(type, 'union');
export const isMap = (type: avro.Type): type is avro.types.MapType => avro.Type.isType(type, 'map');
export const isArray = (type: avro.Type): type is avro.types.ArrayType => avro.Type.isType(type, 'array');
export const isFixed = (type: avro.Type): type is avro.types.FixedType => avro.Type.isType(type, 'fixed');
export const isEnum = (type: avro.Type): type is avro.types.EnumType => avro.Type.isType(type, 'enum');

/** The type of a map's values. */
export const valuesOf = (type: avro.types.MapType): avro.Type => type.valuesType as avro.Type;
