import type { Value } from '../../../../../shared/proto/google/firestore/v1/document.ts';
import type { StructuredAggregationQuery_Aggregation as Aggregation } from '../../../../../shared/proto/google/firestore/v1/query.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import type { Fields, StoredDocument } from '../documents/document.ts';
import { numberOf } from '../documents/value-order.ts';
import { fieldReader } from './fields.ts';

/** The service computes at most this many in one query. */
const MAX_AGGREGATIONS = 5;

/** What the aggregations make of the documents of a query, by alias. Pure. @throws INVALID_ARGUMENT */
export function aggregate(documents: readonly StoredDocument[], aggregations: readonly Aggregation[]): Fields {
  if (aggregations.length === 0 || aggregations.length > MAX_AGGREGATIONS) {
    throw new GrpcError(
      'INVALID_ARGUMENT',
      `aggregations: must be 1 to ${MAX_AGGREGATIONS}, got ${aggregations.length}`,
    );
  }
  const values = new Map<string, Value>();
  for (const [index, aggregation] of aggregations.entries()) {
    const alias = aggregation.alias || `field_${index + 1}`;
    if (values.has(alias)) throw new GrpcError('INVALID_ARGUMENT', `alias "${alias}": two aggregations have it`);
    values.set(alias, aggregated(documents, aggregation));
  }
  return Object.fromEntries(values);
}

function aggregated(documents: readonly StoredDocument[], { operator }: Aggregation): Value {
  switch (operator?.$case) {
    case 'count': {
      const { upTo } = operator.value;
      const count = BigInt(documents.length);
      return integer(upTo !== undefined && upTo < count ? upTo : count);
    }
    case 'sum':
      return sumOf(numbersAt(documents, operator.value.field));
    case 'avg': {
      const numbers = numbersAt(documents, operator.value.field);
      if (numbers.length === 0) return { valueType: { $case: 'nullValue', value: 0 } };
      return double(asNumber(sumOf(numbers)) / numbers.length);
    }
    case undefined:
      throw new GrpcError('INVALID_ARGUMENT', 'an aggregation must have an operator');
  }
}

/** Whatever is no number does not count. */
function numbersAt(
  documents: readonly StoredDocument[],
  field: Parameters<typeof fieldReader>[0],
): readonly (bigint | number)[] {
  const read = fieldReader(field);
  return documents.flatMap((document) => {
    const value = read(document);
    return (value && numberOf(value)) ?? [];
  });
}

/** An integer while all are and the sum fits; a double else. */
function sumOf(numbers: readonly (bigint | number)[]): Value {
  const integers = numbers.filter((number) => typeof number === 'bigint');
  const whole = integers.reduce((sum, number) => sum + number, 0n);
  const isInteger = integers.length === numbers.length && BigInt.asIntN(64, whole) === whole;
  if (isInteger) return integer(whole);
  const doubles = numbers.filter((number) => typeof number === 'number');
  return double(doubles.reduce((sum, number) => sum + number, Number(whole)));
}

const asNumber = (value: Value): number => Number(numberOf(value) ?? 0);

const integer = (value: bigint): Value => ({ valueType: { $case: 'integerValue', value } });
const double = (value: number): Value => ({ valueType: { $case: 'doubleValue', value } });
