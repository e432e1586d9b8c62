import { GcRule as WireGcRule, type ColumnFamily } from '../../../../../shared/proto/google/bigtable/admin/v2/table.ts';
import type { Type, Type_Aggregate } from '../../../../../shared/proto/google/bigtable/admin/v2/types.ts';
import type { Duration } from '../../../../../shared/proto/google/protobuf/duration.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import type { Aggregate, AggregateInput, Aggregator } from './aggregates.ts';
import type { GcRule } from './gc.ts';

/** A column family: what reads and writes need of it, and the wire form that the admin API answers with. */
export interface Family {
  readonly name: string;
  readonly gcRule: GcRule | undefined;
  /** Undefined for a family of raw bytes. */
  readonly aggregate: Aggregate | undefined;
  readonly wire: ColumnFamily;
}

const FAMILY_NAME = /^[-_.a-zA-Z0-9]{1,64}$/;

/** Largest serialized garbage collection rule (admin API, `ColumnFamily.gc_rule`). */
const MAX_GC_RULE_BYTES = 500;

/** Reads a family's declaration. Throws INVALID_ARGUMENT where the service would refuse it. */
export function parseFamily(name: string, wire: ColumnFamily): Family {
  if (!FAMILY_NAME.test(name)) {
    throw new GrpcError(
      'INVALID_ARGUMENT',
      `Invalid id for collection columnFamilies : Should match [-_.a-zA-Z0-9]{1,64} but found '${name}'`,
    );
  }
  const aggregate = wire.valueType && parseAggregate(name, wire.valueType);
  return {
    name,
    gcRule: wire.gcRule && parseGcRule(name, wire.gcRule),
    aggregate,
    wire: aggregate ? { ...wire, valueType: withStateType(wire.valueType!, aggregate) } : wire,
  };
}

function parseGcRule(family: string, wire: WireGcRule): GcRule | undefined {
  if (WireGcRule.encode(wire).finish().length > MAX_GC_RULE_BYTES) {
    throw new GrpcError('INVALID_ARGUMENT', `GC rule of family '${family}' exceeds ${MAX_GC_RULE_BYTES} bytes`);
  }
  const { rule } = wire;
  if (!rule) return undefined;
  switch (rule.$case) {
    case 'maxNumVersions':
      if (rule.value < 1)
        throw new GrpcError('INVALID_ARGUMENT', `max_num_versions of family '${family}' must be positive`);
      return { kind: 'maxVersions', versions: rule.value };
    case 'maxAge': {
      const micros = durationMicros(rule.value);
      if (micros < 1000n)
        throw new GrpcError('INVALID_ARGUMENT', `max_age of family '${family}' must be at least 1 ms`);
      return { kind: 'maxAge', micros };
    }
    case 'union':
    case 'intersection': {
      const rules = rule.value.rules.map((each) => parseGcRule(family, each)).filter((each) => each !== undefined);
      return { kind: rule.$case, rules };
    }
  }
}

const durationMicros = ({ seconds, nanos }: Duration): bigint =>
  seconds * 1_000_000n + BigInt(Math.trunc(nanos / 1000));

/** Undefined for a type that is not an aggregate: the family then serves raw bytes. */
function parseAggregate(family: string, type: Type): Aggregate | undefined {
  if (type.kind?.$case !== 'aggregateType') {
    if (type.kind === undefined || type.kind.$case === 'bytesType') return undefined;
    throw new GrpcError('INVALID_ARGUMENT', `value_type of family '${family}': only Aggregate and Bytes are supported`);
  }
  const wire = type.kind.value;
  const aggregator = aggregatorOf(family, wire);
  const input = inputOf(wire.inputType);
  if (input === undefined || (aggregator !== 'distinct' && input !== 'int64')) {
    throw new GrpcError(
      'INVALID_ARGUMENT',
      `value_type of family '${family}': unsupported input type '${wire.inputType?.kind?.$case ?? 'none'}' for ${aggregator}`,
    );
  }
  return { aggregator, input };
}

function aggregatorOf(family: string, { aggregator }: Type_Aggregate): Aggregator {
  switch (aggregator?.$case) {
    case 'sum':
    case 'min':
    case 'max':
      return aggregator.$case;
    case 'hllppUniqueCount':
      return 'distinct';
    case undefined:
      throw new GrpcError('INVALID_ARGUMENT', `value_type of family '${family}': the aggregate names no aggregator`);
  }
}

function inputOf(type: Type | undefined): AggregateInput | undefined {
  const kind = type?.kind?.$case;
  if (kind === 'int64Type') return 'int64';
  if (kind === 'bytesType') return 'bytes';
  return kind === 'stringType' ? 'string' : undefined;
}

/** The service fills in the state type, an output-only field. */
function withStateType(type: Type, { aggregator }: Aggregate): Type {
  if (type.kind?.$case !== 'aggregateType') return type;
  const stateType: Type =
    aggregator === 'distinct'
      ? { kind: { $case: 'bytesType', value: { encoding: { encoding: { $case: 'raw', value: {} } } } } }
      : {
          kind: {
            $case: 'int64Type',
            value: { encoding: { encoding: { $case: 'bigEndianBytes', value: { bytesType: undefined } } } },
          },
        };
  return { kind: { $case: 'aggregateType', value: { ...type.kind.value, stateType } } };
}
