import type { AggregateValue, Mutation, RowEntry } from '../../model/mutation.ts';
import { MutateRowsRequest_Entry as WireEntry } from '../../proto/google/bigtable/v2/bigtable.ts';
import type { Mutation as WireMutation, Value } from '../../proto/google/bigtable/v2/data.ts';
import { RecordError } from '../../base/errors.ts';

/**
 * Entries as `google.bigtable.v2.MutateRowsRequest.Entry`, both ways: the payload of a dead letter and the input of
 * the `entry` serializer. Pure. Uses the generated code; the hand-written encoder of the data plane is held to it.
 */

/** The bytes of one entry. */
export const encodeEntry = (entry: RowEntry): Buffer =>
  Buffer.from(
    WireEntry.encode({
      rowKey: entry.rowKey,
      mutations: entry.mutations.map(toWireMutation),
      idempotency: undefined,
    }).finish(),
  );

/** Reads an entry's bytes. Throws a {@link RecordError} that names the path of what cannot be read. */
export function decodeEntry(bytes: Buffer): RowEntry {
  let wire: WireEntry;
  try {
    wire = WireEntry.decode(bytes);
  } catch (error) {
    throw new RecordError('entry: must be the bytes of a google.bigtable.v2.MutateRowsRequest.Entry', { cause: error });
  }
  if (wire.mutations.length === 0) throw new RecordError('entry.mutations: must hold at least one mutation');
  return {
    rowKey: wire.rowKey,
    mutations: wire.mutations.map((mutation, index) => fromWireMutation(mutation, `entry.mutations[${index}]`)),
  };
}

/** One mutation as the generated type. Every kind is handled: the `never` fails to compile when one is added. */
export function toWireMutation(mutation: Mutation): WireMutation {
  switch (mutation.kind) {
    case 'setCell':
      return {
        mutation: {
          $case: 'setCell',
          value: {
            familyName: mutation.family,
            columnQualifier: mutation.qualifier,
            timestampMicros: mutation.timestampMicros,
            value: mutation.value,
          },
        },
      };
    case 'addToCell':
    case 'mergeToCell':
      return {
        mutation: {
          $case: mutation.kind,
          value: {
            familyName: mutation.family,
            columnQualifier: wireValue({ $case: 'rawValue', value: mutation.qualifier }),
            timestamp: wireValue({ $case: 'rawTimestampMicros', value: mutation.timestampMicros }),
            input: wireInput(mutation.input),
          },
        },
      };
    case 'deleteFromColumn': {
      const { startTimestampMicros: start, endTimestampMicros: end } = mutation;
      const isBounded = start !== undefined || end !== undefined;
      return {
        mutation: {
          $case: 'deleteFromColumn',
          value: {
            familyName: mutation.family,
            columnQualifier: mutation.qualifier,
            timeRange: isBounded ? { startTimestampMicros: start ?? 0n, endTimestampMicros: end ?? 0n } : undefined,
          },
        },
      };
    }
    case 'deleteFromFamily':
      return { mutation: { $case: 'deleteFromFamily', value: { familyName: mutation.family } } };
    case 'deleteFromRow':
      return { mutation: { $case: 'deleteFromRow', value: {} } };
    default:
      return mutation satisfies never;
  }
}

/** One mutation of the generated type. Throws a {@link RecordError} that starts with the path of what cannot be read. */
export function fromWireMutation({ mutation }: WireMutation, path: string): Mutation {
  if (mutation === undefined) throw new RecordError(`${path}: must be one of the six kinds of mutation, got none`);
  switch (mutation.$case) {
    case 'setCell':
      return {
        kind: 'setCell',
        family: mutation.value.familyName,
        qualifier: mutation.value.columnQualifier,
        timestampMicros: mutation.value.timestampMicros,
        value: mutation.value.value,
      };
    case 'addToCell':
    case 'mergeToCell': {
      const { familyName, columnQualifier, timestamp, input } = mutation.value;
      if (columnQualifier?.kind?.$case !== 'rawValue') {
        throw new RecordError(`${path}.${mutation.$case}.columnQualifier: must be a raw value`);
      }
      if (timestamp?.kind?.$case !== 'rawTimestampMicros') {
        throw new RecordError(`${path}.${mutation.$case}.timestamp: must be a raw timestamp in microseconds`);
      }
      return {
        kind: mutation.$case,
        family: familyName,
        qualifier: columnQualifier.kind.value,
        timestampMicros: timestamp.kind.value,
        input: fromWireInput(input, `${path}.${mutation.$case}.input`),
      };
    }
    case 'deleteFromColumn': {
      const { familyName, columnQualifier, timeRange } = mutation.value;
      return {
        kind: 'deleteFromColumn',
        family: familyName,
        qualifier: columnQualifier,
        // Zero is how the wire says "unbounded" on either side.
        ...(timeRange && timeRange.startTimestampMicros !== 0n
          ? { startTimestampMicros: timeRange.startTimestampMicros }
          : {}),
        ...(timeRange && timeRange.endTimestampMicros !== 0n
          ? { endTimestampMicros: timeRange.endTimestampMicros }
          : {}),
      };
    }
    case 'deleteFromFamily':
      return { kind: 'deleteFromFamily', family: mutation.value.familyName };
    case 'deleteFromRow':
      return { kind: 'deleteFromRow' };
    default:
      return mutation satisfies never;
  }
}

const wireValue = (kind: NonNullable<Value['kind']>): Value => ({ type: undefined, kind });

function wireInput(input: AggregateValue): Value {
  switch (input.kind) {
    case 'raw':
      return wireValue({ $case: 'rawValue', value: input.value });
    case 'bytes':
      return wireValue({ $case: 'bytesValue', value: input.value });
    case 'int64':
      return wireValue({ $case: 'intValue', value: input.value });
    default:
      return input satisfies never;
  }
}

function fromWireInput(input: Value | undefined, path: string): AggregateValue {
  switch (input?.kind?.$case) {
    case 'rawValue':
      return { kind: 'raw', value: input.kind.value };
    case 'bytesValue':
      return { kind: 'bytes', value: input.kind.value };
    case 'intValue':
      return { kind: 'int64', value: input.kind.value };
    default:
      throw new RecordError(`${path}: must be a raw, bytes or int value, got ${input?.kind?.$case ?? 'none'}`);
  }
}
