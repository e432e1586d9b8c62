import type { FamilyType, ResolvedFamily, ResolvedGcRule } from '../../bulk/ports.ts';
import type { ColumnFamily, GcRule } from '../../proto/google/bigtable/admin/v2/table.ts';
import { Type, type Type_Aggregate, type Type_Int64_Encoding } from '../../proto/google/bigtable/admin/v2/types.ts';

/** Column families between the wire and our words: their types and how long they keep a cell. Pure. */

type Aggregator = NonNullable<Type_Aggregate['aggregator']>;

const AGGREGATORS = {
  'int64-sum': { $case: 'sum', value: {} },
  'int64-min': { $case: 'min', value: {} },
  'int64-max': { $case: 'max', value: {} },
  'int64-hll': { $case: 'hllppUniqueCount', value: {} },
} as const satisfies Readonly<Record<Exclude<FamilyType, 'raw'>, Aggregator>>;

const BIG_ENDIAN: Type_Int64_Encoding = { encoding: { $case: 'bigEndianBytes', value: { bytesType: undefined } } };

const INT64: Type = { kind: { $case: 'int64Type', value: { encoding: BIG_ENDIAN } } };

/** The type of a new family; undefined for bytes, which a family without a type holds. */
export function wireType(type: FamilyType): Type | undefined {
  if (type === 'raw') return undefined;
  const aggregate = { inputType: INT64, stateType: undefined, aggregator: AGGREGATORS[type] };
  return { kind: { $case: 'aggregateType', value: aggregate } };
}

/**
 * Our word for the type of a family that exists, or a description of it if we have none. Two spellings of one type are
 * one; a field that we do not know makes another type of it.
 */
export function typeOfFamily({ valueType }: ColumnFamily): string {
  const live = encoded(valueType);
  const known = WORDS.find(([, bytes]) => bytes.equals(live));
  return known ? known[0] : `another one (${describe(valueType)})`;
}

/** Without what the service fills in or ignores, and with what it takes an omission for. */
function normalized(type: Type | undefined): Type {
  const { kind } = type ?? {};
  switch (kind?.$case) {
    case undefined:
      return type && hasUnknown(type) ? type : { kind: { $case: 'bytesType', value: RAW } };
    case 'bytesType':
      return { ...type, kind: { ...kind, value: { ...RAW, ...withoutUndefined(kind.value) } } };
    case 'int64Type':
      return { ...type, kind: { ...kind, value: { ...kind.value, encoding: int64Encoding(kind.value.encoding) } } };
    case 'aggregateType': {
      // The state type is output only.
      const { inputType } = kind.value;
      const value = { ...kind.value, inputType: inputType && normalized(inputType), stateType: undefined };
      return { ...type, kind: { ...kind, value } };
    }
    default:
      return { ...type, kind };
  }
}

const RAW = { encoding: { encoding: { $case: 'raw', value: {} } } } as const;

const withoutUndefined = <Value extends object>(value: Value): Partial<Value> =>
  Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as Partial<Value>;

function int64Encoding(encoding: Type_Int64_Encoding | undefined): Type_Int64_Encoding {
  if (!encoding) return BIG_ENDIAN;
  if (!encoding.encoding) return hasUnknown(encoding) ? encoding : BIG_ENDIAN;
  if (encoding.encoding.$case !== 'bigEndianBytes') return encoding;
  // Deprecated and ignored.
  const value = { ...encoding.encoding.value, bytesType: undefined };
  return { ...encoding, encoding: { ...encoding.encoding, value } };
}

const hasUnknown = ({ _unknownFields: fields }: { readonly _unknownFields?: object | undefined }): boolean =>
  fields !== undefined && Object.keys(fields).length > 0;

const encoded = (type: Type | undefined): Buffer => Buffer.from(Type.encode(normalized(type)).finish());

const WORDS: readonly (readonly [FamilyType, Buffer])[] = (['raw', ...keysOf(AGGREGATORS)] as const).map((word) => [
  word,
  encoded(wireType(word)),
]);

function keysOf<Key extends string>(record: Readonly<Record<Key, unknown>>): Key[] {
  return Object.keys(record) as Key[];
}

function describe(type: Type | undefined): string {
  const { kind } = type ?? {};
  if (kind === undefined) return 'unknown to this version';
  if (kind.$case !== 'aggregateType') return kind.$case;
  const { aggregator, inputType } = kind.value;
  return `${aggregator?.$case ?? 'an unknown aggregate'} of ${inputType ? describe(inputType) : 'nothing'}`;
}

/** A family as it is created. */
export const wireFamily = ({ type, gcRule }: ResolvedFamily): ColumnFamily => ({
  gcRule: gcRule && wireGcRule(gcRule),
  valueType: wireType(type),
});

function wireGcRule(rule: ResolvedGcRule): GcRule {
  switch (rule.kind) {
    case 'max-versions':
      return { rule: { $case: 'maxNumVersions', value: rule.maxVersions } };
    case 'max-age': {
      const millis = rule.maxAgeMillis % 1000;
      const value = { seconds: BigInt((rule.maxAgeMillis - millis) / 1000), nanos: millis * 1_000_000 };
      return { rule: { $case: 'maxAge', value } };
    }
    case 'union':
    case 'intersection':
      return { rule: { $case: rule.kind, value: { rules: rule.rules.map(wireGcRule) } } };
    default:
      return rule satisfies never;
  }
}

/**
 * The least age, in milliseconds, at which a rule may take a cell; `Infinity` without a rule. Pure. A rule by versions
 * may take a cell of any age, and so may one that this version does not know.
 */
export function keptMillis(rule: GcRule | undefined): number {
  // A message without any rule in it is how the service shows "never".
  if (rule === undefined || (rule.rule === undefined && !hasUnknown(rule))) return Infinity;
  switch (rule.rule?.$case) {
    case 'maxAge':
      return Number(rule.rule.value.seconds) * 1000 + rule.rule.value.nanos / 1_000_000;
    case 'union':
      // Taken as soon as any of them takes it.
      return Math.min(...rule.rule.value.rules.map(keptMillis));
    case 'intersection':
      // Taken only when all of them take it.
      return Math.max(0, ...rule.rule.value.rules.map(keptMillis));
    case 'maxNumVersions':
    case undefined:
      return 0;
  }
}
