import type { ResolvedTimestamp } from '../declared/resolved.ts';
import { RecordError } from '../../base/errors.ts';
import type { PushedMessage } from '../../model/record.ts';
import type { SerializerContext } from '../context.ts';
import { compileField, type DecodedRecord, type Settle } from '../values/fields.ts';
import { refuseValue } from '../values/field-value.ts';
import { floorDivide, instantOf, unitRule, yearOf } from '../values/time.ts';

const NANOS_PER_MICRO = 1000n;
const MICROS_PER_MILLI = 1000n;
const MAX_INT64 = 2n ** 63n - 1n;
const MICROS_PER_DAY = 86_400_000_000n;

/** The one timestamp of all cells of a record, in microseconds. */
export type TimestampOf = (record: DecodedRecord, context: SerializerContext) => bigint;

/** The publish time, floored to the millisecond that tables keep. The same at every redelivery. */
export const publishTimestamp: TimestampOf = (_record, { publishTimeMicros }) =>
  floorDivide(publishTimeMicros, MICROS_PER_MILLI) * MICROS_PER_MILLI;

/**
 * Compiles where the timestamp comes from. One from a field is never rounded: finer than a microsecond, before the
 * epoch, too far in the future or beyond 64 bits it is refused; finer than a millisecond it is passed on, and the sink refuses it unsent, unless truncation was asked for.
 */
export function compileTimestamp(timestamp: ResolvedTimestamp, settle: Settle): TimestampOf {
  if (timestamp.from === 'publishTime') return publishTimestamp;
  const { field, unit, truncateToMillis, onNull } = timestamp;
  const bounded = compileFutureBound(timestamp.maxFutureDays, field.label);
  const { label } = field;
  const read = compileField(field, settle);
  const step = truncateToMillis ? NANOS_PER_MICRO * MICROS_PER_MILLI : NANOS_PER_MICRO;
  return (record, context) => {
    const value = read(record);
    if (value === undefined || value === null) {
      if (onNull === 'publish-time') return publishTimestamp(record, context);
      return refuseValue(label, 'must be there and not null', value);
    }
    const nanos = instantOf(value, unit);
    if (nanos === undefined) return refuseValue(label, unitRule(unit), value);
    if (nanos < 0n) return refuseValue(label, 'must not be before the epoch', value);
    if (!truncateToMillis && nanos % step !== 0n) {
      return refuseValue(label, 'must not be finer than a microsecond', value);
    }
    const micros = ((nanos / step) * step) / NANOS_PER_MICRO;
    return micros > MAX_INT64
      ? refuseValue(label, 'must fit 64 bits in microseconds', value)
      : bounded(micros, record.input.message);
  };
}

/** Refuses a time that lies further after the publish time than the days: most are counts in too small a unit. */
export function compileFutureBound(
  days: number | undefined,
  label: string,
): (micros: bigint, message: Pick<PushedMessage, 'publishTimeMicros'>) => bigint {
  if (days === undefined) return (micros) => micros;
  const limit = BigInt(days) * MICROS_PER_DAY;
  return (micros, { publishTimeMicros }) => {
    if (micros - publishTimeMicros <= limit) return micros;
    throw new RecordError(
      `${label}: must not be more than ${days} days after the publish time (maxFuture), got a time of the year ${yearOf(micros * NANOS_PER_MICRO)}`,
    );
  };
}
