import type { ChangeEntry, ChangeValue, TimestampRange } from '../../model/change.ts';
import { cellBytes, textBytes } from '../../model/row.ts';
import type { Mutation, TimestampRange as WireRange, Value } from '../../proto/google/bigtable/v2/data.ts';
import { StreamProtocolError } from './wire-rules.ts';

type Step = NonNullable<Mutation['mutation']>;

/**
 * An entry of a change. Exhaustive: a kind that the service's API grows does not build before it is decided on here, and
 * one that is not known yet is refused with its whole change.
 */
export function entryOf(step: Step): ChangeEntry {
  switch (step.$case) {
    case 'setCell': {
      const { familyName, columnQualifier, timestampMicros, value } = step.value;
      return { kind: 'set-cell', family: named(familyName), qualifier: columnQualifier, timestampMicros, value };
    }
    case 'deleteFromColumn': {
      const { familyName, columnQualifier, timeRange } = step.value;
      const timestampRange = rangeOf(timeRange);
      return { kind: 'delete-cells', family: named(familyName), qualifier: columnQualifier, timestampRange };
    }
    case 'deleteFromFamily':
      return { kind: 'delete-family', family: named(step.value.familyName) };
    case 'addToCell':
    case 'mergeToCell': {
      const { familyName, columnQualifier, timestamp, input } = step.value;
      return {
        kind: step.$case === 'addToCell' ? 'add-to-cell' : 'merge-to-cell',
        family: named(familyName),
        qualifier: valueOf(columnQualifier),
        timestamp: valueOf(timestamp),
        input: valueOf(input),
      };
    }
    case 'deleteFromRow':
      throw new StreamProtocolError('a change deletes a row, which a stream tells family by family');
    default:
      return step satisfies never;
  }
}

function named(family: string): string {
  if (family === '') throw new StreamProtocolError('an entry names no family');
  return family;
}

/** Zero is no bound on the wire. */
function rangeOf(range: WireRange | undefined): TimestampRange {
  const { startTimestampMicros: start = 0n, endTimestampMicros: end = 0n } = range ?? {};
  return { ...(start !== 0n && { startMicros: start }), ...(end !== 0n && { endMicros: end }) };
}

function valueOf(value: Value | undefined): ChangeValue {
  const kind = value?.kind;
  switch (kind?.$case) {
    case 'rawValue':
      return { kind: 'raw-value', value: kind.value };
    case 'rawTimestampMicros':
      return { kind: 'raw-timestamp', micros: kind.value };
    case 'intValue':
      return { kind: 'int64', value: kind.value };
    case 'bytesValue':
    case 'stringValue':
    case 'boolValue':
    case 'floatValue':
    case 'timestampValue':
    case 'dateValue':
    case 'arrayValue':
    case undefined:
      throw new StreamProtocolError(`a value of an aggregate is ${kind?.$case ?? 'of a kind'} that is not known here`);
    default:
      return kind satisfies never;
  }
}

/** What an entry takes in the estimate of a change's size. */
export function entryBytes(entry: ChangeEntry): number {
  const familyBytes = Buffer.byteLength(entry.family);
  switch (entry.kind) {
    case 'set-cell':
      return cellBytes(familyBytes, entry.qualifier.length, entry.timestampMicros, entry.value.length);
    case 'delete-cells':
      return cellBytes(familyBytes, entry.qualifier.length, entry.timestampRange.startMicros ?? 0n, 8);
    case 'delete-family':
      return textBytes(familyBytes);
    case 'add-to-cell':
    case 'merge-to-cell':
      return (
        textBytes(familyBytes) + valueBytes(entry.qualifier) + valueBytes(entry.timestamp) + valueBytes(entry.input)
      );
  }
}

/** What a value of an aggregate takes in the estimate of a change's size. */
const valueBytes = (value: ChangeValue): number => textBytes(value.kind === 'raw-value' ? value.value.length : 8);
