import { expect, expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import { flag, optional } from '../../../shared/config/option.ts';
import { count, duration, inMillis, requiredDuration, size } from '../../../shared/config/quantity.ts';

const shape = {
  linger: duration('Waiting.', { default: '2s', min: '0ms' }),
  horizon: optional(requiredDuration('Age.', { example: '30d', min: '8d' })),
  entries: count('Entries.', { default: 5, min: 1 }),
  bytes: size('Bytes.', { default: '1KiB', min: 1 }),
  isOn: flag('On.', false),
};

test('a duration is known to functions by its name and its unit, and every other option by its name', () => {
  const read = inMillis(shape, z.strictObject(shape).parse({ horizon: '9d' }));
  expect(read).toEqual({ lingerMillis: 2_000, horizonMillis: 777_600_000, entries: 5, bytes: 1_024, isOn: false });
  expectTypeOf(read).toEqualTypeOf<{
    readonly lingerMillis: number;
    readonly horizonMillis?: number;
    readonly entries: number;
    readonly bytes: number;
    readonly isOn: boolean;
  }>();
});

test('an option that is not set is absent, so that a resolved document survives JSON', () => {
  const read = inMillis(shape, z.strictObject(shape).parse({}));
  expect(Object.keys(read)).not.toContain('horizonMillis');
});

test('options of another declaration are left alone', () => {
  const others = { ...shape, other: flag('Other.', true) };
  expect(inMillis(shape, z.strictObject(others).parse({}))).not.toHaveProperty('other');
});
