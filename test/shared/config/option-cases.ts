import { describe, expect, test } from 'vitest';
import { MAX_DURATION_MILLIS } from '../../../shared/config/units.ts';
import { linesOf, withOption, type Options } from './documents.ts';

/** What is to hold of one option of a kind of pipeline. */
export interface OptionCase<Pipeline> {
  readonly path: string;
  readonly read: (pipeline: Pipeline) => unknown;
  /** What the option is without being written. */
  readonly fallback: unknown;
  /** As written → as resolved; the bounds are among them. */
  readonly accepted: readonly (readonly [written: unknown, resolved: unknown])[];
  /** One past each bound, and other spellings. */
  readonly refused: readonly unknown[];
  readonly rule: string;
  readonly base?: Options;
}

export const UNITS = 'written as a whole number and its unit (ms, s, m, h, d) such as';
export const SIZES = 'written as a whole number and its unit (B, KiB, MiB, GiB, kB, MB, GB) such as';
export const LONGEST = `${MAX_DURATION_MILLIS}ms`;

/** Of names of topics and subscriptions. */
export const idRule = (collection: 'topics' | 'subscriptions'): string =>
  `must be an id of 3 to 255 letters, digits and ._~%+- that starts with a letter and not with "goog", or projects/p/${collection}/<id>`;

/** Tests of every option: its default, what it takes and what it refuses. */
export function describeOptions<Pipeline>(
  cases: readonly OptionCase<Pipeline>[],
  minimal: Options,
  resolved: (options: Options) => Pipeline,
): void {
  describe.each(cases)('$path', ({ path, read, fallback, accepted, refused, rule, base = minimal }) => {
    test('has its default', () => {
      expect(read(resolved(base))).toBe(fallback);
    });

    test.each(accepted)('takes %j', (written, value) => {
      expect(read(resolved(withOption(base, path, written)))).toBe(value);
    });

    test.each(refused)('refuses %j by its rule', (written) => {
      const [line, ...others] = linesOf(withOption(base, path, written));
      expect(others).toEqual([]);
      expect(line).toMatch(`${path}: ${rule}, got `);
    });
  });

  test.each(cases.filter(({ rule }) => rule.includes('duration')))(
    '$path refuses more than 2^63-1 ns',
    ({ path, base = minimal }) => {
      const longest = 'must be a duration of at most 2^63-1 nanoseconds (about 292 years)';
      const line = `${path}: ${longest}, got "${MAX_DURATION_MILLIS + 1}ms"`;
      expect(linesOf(withOption(base, path, `${MAX_DURATION_MILLIS + 1}ms`))).toEqual([line]);
    },
  );
}
