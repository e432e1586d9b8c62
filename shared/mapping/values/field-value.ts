import { RecordError } from '../../base/errors.ts';

/**
 * What a field of a decoded record can hold, whatever format it came in. The formats differ in what they know:
 * JSON gives numbers as they were written, Avro and Protobuf give integers, bytes and instants.
 */
export type FieldValue =
  null | boolean | string | number | bigint | NumberText | Instant | Buffer | readonly FieldValue[] | FieldObject;

/** A record, a nested record or a map. Made by decoders only: read it with `Object.hasOwn`, names are the publisher's. */
export interface FieldObject {
  readonly [name: string]: FieldValue;
}

/** A number exactly as it was written, because a double would not keep its digits (`1e400`, `10000000001922600`, `0.10`). */
export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A point in time that its format declares as one. */
export class Instant {
  /** Nanoseconds since the epoch; negative before it. */
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** Decoders make members as plain objects and nothing else, so the prototype tells them from every other value. */
export const isFieldObject = (value: FieldValue | undefined): value is FieldObject =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** What kind of value stands there, in a person's words. The value itself never reaches a message. */
export function kindOfValue(value: FieldValue | undefined): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'a boolean';
  if (typeof value === 'string') return value === '' ? 'an empty text' : 'a text';
  if (typeof value === 'number' || typeof value === 'bigint' || value instanceof NumberText) return 'a number';
  if (value instanceof Instant) return 'an instant';
  if (Buffer.isBuffer(value)) return 'bytes';
  return Array.isArray(value) ? 'a list' : 'an object';
}

/** Refuses a record: names the path and the rule, and of the value only its kind. */
export function refuseValue(path: string, rule: string, value: FieldValue | undefined): never {
  throw new RecordError(`${path}: ${rule}, got ${kindOfValue(value)}`);
}
