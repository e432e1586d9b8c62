import type { FieldReference } from '../declared/resolved.ts';
import type { InputRecord } from '../../model/record.ts';
import { type FieldValue, Instant, isFieldObject } from './field-value.ts';

/** A record after its bytes were decoded, once. */
export interface DecodedRecord {
  readonly input: InputRecord;
  /** In the decoder's own form: read it through a {@link Field}. */
  readonly root: FieldValue;
}

/** Reads one place of a record: undefined = the record has no such field, null = it has one that is null. */
export type Field = (record: DecodedRecord) => FieldValue | undefined;

/** Gives the field value of a part of the decoder's tree. */
export type Settle = (value: FieldValue) => FieldValue;

const NANOS_PER_MICRO = 1000n;

/** Compiles a reference to the closure that reads it. */
export function compileField(reference: FieldReference, settle: Settle): Field {
  switch (reference.from) {
    case 'payload':
      return compilePath(reference.path, settle);
    case 'attribute': {
      const { name } = reference;
      return ({ input: { message } }) =>
        Object.hasOwn(message.attributes, name) ? message.attributes[name] : undefined;
    }
    case 'orderingKey':
      return ({ input }) => input.message.orderingKey;
    case 'messageId':
      return ({ input }) => input.message.messageId;
    case 'publishTime':
      return ({ input }) => new Instant(input.message.publishTimeMicros * NANOS_PER_MICRO);
    case 'data':
      return ({ input }) => input.data;
  }
}

/** Whether the field can be read before the record is decoded. */
export const isOutsidePayload = ({ from }: FieldReference): boolean => from !== 'payload';

function compilePath(path: readonly string[], settle: Settle): Field {
  const steps = path.map(step);
  const [only] = steps;
  if (only && steps.length === 1) {
    return ({ root }) => {
      if (root === null) return null;
      const value = only(root);
      return value === undefined ? undefined : settle(value);
    };
  }
  return ({ root }) => {
    let at: FieldValue | undefined = root;
    for (const take of steps) {
      // A null object has null members: a nullable part of the record makes all its columns null.
      if (at === null || at === undefined) return at;
      at = take(at);
    }
    return at === undefined ? undefined : settle(at);
  };
}

/**
 * Compiles what stands in the way of a field that a record does not have: a scalar, or a list that is asked for a name,
 * where the path goes on. Undefined = nothing does, the field is missing.
 */
export function compileObstacle(reference: FieldReference, settle: Settle): Field {
  if (reference.from !== 'payload') return () => undefined;
  const { path } = reference;
  const steps = path.map(step);
  return ({ root }) => {
    let at: FieldValue | undefined = root;
    for (const [index, take] of steps.entries()) {
      if (at === null || at === undefined) return undefined;
      const leads = isFieldObject(at) || (Array.isArray(at) && INDEX.test(path[index] ?? ''));
      if (!leads) return settle(at);
      at = take(at);
    }
    return undefined;
  };
}

const INDEX = /^(?:0|[1-9]\d{0,8})$/;

function step(name: string): (value: FieldValue) => FieldValue | undefined {
  const index = INDEX.test(name) ? Number(name) : -1;
  return (value) => {
    if (isFieldObject(value)) return Object.hasOwn(value, name) ? value[name] : undefined;
    return Array.isArray(value) ? (value as readonly FieldValue[])[index] : undefined;
  };
}
