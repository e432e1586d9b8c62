import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Bound,
  closedBound,
  coalesce,
  compareEnds,
  compareStarts,
  containsKey,
  cutAt,
  cuts,
  formatRange,
  formatRowKey,
  formatSampleKey,
  intersect,
  isEmptyRange,
  normaliseRange,
  openBound,
  prefixRange,
  type RowRange,
  sameEnd,
  sameStart,
  truncateAfter,
  UNBOUNDED,
  WHOLE_TABLE,
} from '../../../shared/model/row-range.ts';

/**
 * An oracle without algebra: every key of up to three bytes of a small alphabet, in order. Ranges whose bounds have up to
 * two of those bytes hold some of these keys exactly when they hold any.
 */
const ALPHABET = [0x00, 0x01, 0x61, 0xff];
const longer = (keys: readonly Buffer[]): Buffer[] =>
  keys.flatMap((key) => ALPHABET.map((byte) => Buffer.concat([key, Buffer.of(byte)])));
const ONE = longer([Buffer.alloc(0)]);
const TWO = longer(ONE);
const ALL_KEYS = [Buffer.alloc(0), ...ONE, ...TWO, ...longer(TWO)].sort((left, right) => Buffer.compare(left, right));
const BOUND_KEYS = [...ONE, ...TWO];

const keyArbitrary = fc.constantFrom(...BOUND_KEYS);
const boundArbitrary: fc.Arbitrary<Bound> = fc.oneof(
  fc.constant(UNBOUNDED),
  fc.record({ kind: fc.constantFrom('closed' as const, 'open' as const), key: keyArbitrary }),
);
const rangeArbitrary: fc.Arbitrary<RowRange> = fc.record({ start: boundArbitrary, end: boundArbitrary });
const rangesArbitrary = fc.array(rangeArbitrary, { maxLength: 6 });

const keysIn = (...ranges: readonly RowRange[]): string[] =>
  ALL_KEYS.filter((key) => ranges.some((range) => containsKey(range, key))).map((key) => key.toString('hex'));

/** `[a, m)` as people write it: a letter is a key, `*` no bound. */
function range(text: string): RowRange {
  const [, open, start = '', end = '', close] = /^([[(])(.*), (.*)([\])])$/.exec(text) ?? [];
  const bound = (key: string, isClosed: boolean): Bound =>
    key === '*' ? UNBOUNDED : isClosed ? closedBound(Buffer.from(key)) : openBound(Buffer.from(key));
  return { start: bound(start, open === '['), end: bound(end, close === ']') };
}

const formatted = (ranges: readonly RowRange[]): string[] => ranges.map(formatRange);

describe('membership', () => {
  test.each([
    ['[b, d)', 'b', true],
    ['(b, d)', 'b', false],
    ['[b, d)', 'd', false],
    ['[b, d]', 'd', true],
    ['(*, d)', 'a', true],
    ['[b, *)', 'z', true],
  ])('%s holds %s: %s', (text, key, isIn) => {
    expect(containsKey(range(text), Buffer.from(key))).toBe(isIn);
  });

  test('keys order as unsigned bytes', () => {
    const high: RowRange = { start: closedBound(Buffer.of(0x80)), end: UNBOUNDED };
    expect(containsKey(high, Buffer.of(0x7f))).toBe(false);
    expect(containsKey(high, Buffer.of(0xff))).toBe(true);
  });
});

describe('emptiness', () => {
  test.each(['[d, b]', '(k, k)', '[k, k)', '(k, k]'])('%s holds nothing', (text) => {
    expect(isEmptyRange(range(text))).toBe(true);
  });

  test.each(['[k, k]', '[a, b)', '(*, a)', '(a, *)', '(*, *)'])('%s holds something', (text) => {
    expect(isEmptyRange(range(text))).toBe(false);
  });

  test('between a key and its successor is nothing, before the one after that is', () => {
    const after = (...bytes: number[]): RowRange => ({
      start: openBound(Buffer.from('k')),
      end: openBound(Buffer.from([0x6b, ...bytes])),
    });
    expect(isEmptyRange(after(0))).toBe(true);
    expect(isEmptyRange(after(1))).toBe(false);
    expect(isEmptyRange(after(0, 0))).toBe(false);
  });

  test('a range is empty exactly when it holds none of all keys', () => {
    fc.assert(
      fc.property(rangeArbitrary, (some) => {
        expect(isEmptyRange(some)).toBe(keysIn(some).length === 0);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('cutting', () => {
  test.each([
    ['[b, d)', 'b', false],
    ['(b, d)', 'b', false],
    ['[b, d)', 'c', true],
    ['[b, d)', 'd', false],
    ['[b, d]', 'd', true],
    ['[b, d]', 'e', false],
    ['[b, *)', 'z', true],
    ['(*, d)', 'a', true],
    ['(*, d)', '', false],
  ])('%s is cut at %s: %s', (text, key, isCut) => {
    expect(cuts(range(text), Buffer.from(key))).toBe(isCut);
  });

  test('a cut leaves keys on both sides, each key on the one where it belongs', () => {
    fc.assert(
      fc.property(rangeArbitrary, keyArbitrary, (some, key) => {
        const isBelow = (hex: string): boolean => Buffer.compare(Buffer.from(hex, 'hex'), key) < 0;
        const keys = keysIn(some);
        expect(cuts(some, key)).toBe(keys.some(isBelow) && !keys.every(isBelow));
        if (!cuts(some, key)) return;
        const [left, right] = cutAt(some, key);
        expect(keysIn(left)).toEqual(keys.filter(isBelow));
        expect(keysIn(right)).toEqual(keys.filter((each) => !isBelow(each)));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('truncation', () => {
  test.each([
    ['[a, m)', 'c', '(c, m)'],
    ['[a, m]', 'c', '(c, m]'],
    ['(*, *)', 'c', '(c, *)'],
  ])('%s after %s is %s', (text, key, rest) => {
    expect(formatRange(truncateAfter(range(text), Buffer.from(key)))).toBe(rest);
  });

  test('after the key at its closed end a range is empty', () => {
    expect(isEmptyRange(truncateAfter(range('[a, k]'), Buffer.from('k')))).toBe(true);
  });

  test('after the empty key a range does not begin anew', () => {
    const rest = truncateAfter(WHOLE_TABLE, Buffer.alloc(0));
    expect(containsKey(rest, Buffer.alloc(0))).toBe(false);
    expect(containsKey(rest, Buffer.of(0))).toBe(true);
  });

  test('what is left are the keys above, and it is left again', () => {
    fc.assert(
      fc.property(rangeArbitrary, fc.constantFrom(Buffer.alloc(0), ...BOUND_KEYS), (some, key) => {
        fc.pre(containsKey(some, key));
        const rest = truncateAfter(some, key);
        const isAbove = (hex: string): boolean => Buffer.compare(Buffer.from(hex, 'hex'), key) > 0;
        expect(keysIn(rest)).toEqual(keysIn(some).filter(isAbove));
        expect(truncateAfter(rest, key)).toEqual(rest);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('order of bounds', () => {
  test('starts: unbounded, then by key, closed before open; ends: by key, open before closed, then unbounded', () => {
    const key = Buffer.from('k');
    const next = Buffer.from('l');
    const starts = [UNBOUNDED, closedBound(key), openBound(key), closedBound(next)];
    const ends = [openBound(key), closedBound(key), openBound(next), UNBOUNDED];
    expect(starts.toReversed().sort(compareStarts)).toEqual(starts);
    expect(ends.toReversed().sort(compareEnds)).toEqual(ends);
  });

  test('two sides are the same exactly when they compare as equal, in kind and key', () => {
    fc.assert(
      fc.property(rangeArbitrary, rangeArbitrary, (left, right) => {
        const isAlike = (one: Bound, other: Bound): boolean => JSON.stringify(one) === JSON.stringify(other);
        expect(sameStart(left, right)).toBe(isAlike(left.start, right.start));
        expect(sameEnd(left, right)).toBe(isAlike(left.end, right.end));
        expect(Math.sign(compareStarts(left.start, right.start))).toBe(
          0 - Math.sign(compareStarts(right.start, left.start)),
        );
        expect(Math.sign(compareEnds(left.end, right.end))).toBe(0 - Math.sign(compareEnds(right.end, left.end)));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('unions', () => {
  test.each([
    [['[a, m)', '[m, z)'], ['[a, z)']],
    [['[a, m]', '(m, z)'], ['[a, z)']],
    [
      ['[a, m)', '(m, z)'],
      ['[a, m)', '(m, z)'],
    ],
    [
      ['[m, z)', '[a, c)'],
      ['[a, c)', '[m, z)'],
    ],
    [['[a, z)', '[c, d]'], ['[a, z)']],
    [['[a, k)', '[c, z)', '[p, q)'], ['[a, z)']],
    [['[a, c)', '(*, *)', '[x, z)'], ['(*, *)']],
    [['[a, *)', '[c, d)'], ['[a, *)']],
    [[], []],
  ])('of %j are %j', (texts, merged) => {
    expect(formatted(coalesce(texts.map(range)))).toEqual(merged);
  });

  test('a union holds the keys of its members, in ranges that are sorted and do not touch', () => {
    fc.assert(
      fc.property(rangesArbitrary, (some) => {
        const before = formatted(some);
        const merged = coalesce(some);
        expect(keysIn(...merged)).toEqual(keysIn(...some));
        expect(formatted(coalesce(merged))).toEqual(formatted(merged));
        expect(formatted(merged.toSorted((left, right) => compareStarts(left.start, right.start)))).toEqual(
          formatted(merged),
        );
        expect(formatted(some)).toEqual(before);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('intersections', () => {
  test.each([
    [['[a, m)'], ['[c, z)'], ['[c, m)']],
    [['[a, m]'], ['(a, m)'], ['(a, m)']],
    [['[a, c)', '[x, z)'], ['(*, *)'], ['[a, c)', '[x, z)']],
    [['[a, c)'], ['[m, z)'], []],
    [['[a, m)'], ['[m, z)'], []],
    [['[a, m]'], ['[m, z)'], ['[m, m]']],
  ])('of %j and %j are %j', (left, right, common) => {
    expect(formatted(intersect(left.map(range), right.map(range)))).toEqual(common);
  });

  test('an intersection holds the keys that both hold, and no empty range', () => {
    fc.assert(
      fc.property(rangesArbitrary, rangesArbitrary, (left, right) => {
        const common = intersect(left, right);
        const theirs = new Set(keysIn(...right));
        expect(keysIn(...common)).toEqual(keysIn(...left).filter((key) => theirs.has(key)));
        expect(common.some(isEmptyRange)).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('prefixes', () => {
  test.each([
    ['', '(*, *)'],
    ['user#', '[user#, user$)'],
    ['a\xff', '[a\\xff, b)'],
    ['\xff\xff', '[\\xff\\xff, *)'],
  ])('%j is %s', (prefix, text) => {
    expect(formatRange(prefixRange(Buffer.from(prefix, 'latin1')))).toBe(text);
  });

  test('a prefix holds the keys that start with it', () => {
    for (const prefix of [Buffer.alloc(0), ...BOUND_KEYS]) {
      const starting = ALL_KEYS.filter((key) => key.subarray(0, prefix.length).equals(prefix));
      expect(keysIn(prefixRange(prefix))).toEqual(starting.map((key) => key.toString('hex')));
    }
  });
});

describe('copies', () => {
  test('a bound of the empty key is none, whichever kind it has', () => {
    const empty = Buffer.alloc(0);
    const asked: RowRange = { start: { kind: 'closed', key: empty }, end: { kind: 'open', key: empty } };
    expect(normaliseRange(asked)).toEqual(WHOLE_TABLE);
  });

  test('a change of the buffer that a range was made of changes no range', () => {
    const key = Buffer.from('k');
    const made = [
      normaliseRange({ start: { kind: 'closed', key }, end: UNBOUNDED }),
      truncateAfter(WHOLE_TABLE, key),
      prefixRange(key),
      ...cutAt(WHOLE_TABLE, key),
      ...coalesce([{ start: { kind: 'closed', key }, end: UNBOUNDED }]),
    ];
    const before = formatted(made);
    key[0] = 0x7a;
    expect(formatted(made)).toEqual(before);
  });
});

describe('rendering', () => {
  test.each([
    [range('[row-1, row-9)'), '[row-1, row-9)'],
    [range('(a, b]'), '(a, b]'],
    [WHOLE_TABLE, '(*, *)'],
    [{ start: closedBound(Buffer.of(0, 0xff)), end: UNBOUNDED }, '[\\x00\\xff, *)'],
    [{ start: closedBound(Buffer.from('a')), end: openBound(Buffer.from('*')) }, '[a, \\x2a)'],
    [{ start: closedBound(Buffer.from('a, b')), end: openBound(Buffer.from('c')) }, '[a\\x2c b, c)'],
    [{ start: closedBound(Buffer.from('a\\b')), end: UNBOUNDED }, '[a\\x5cb, *)'],
  ] as const)('%#: %s', (some, text) => {
    expect(formatRange(some)).toBe(text);
  });

  test('a key alone has no brackets, and the empty key of a sample is the end of the table', () => {
    expect(formatRowKey(Buffer.from('a*\x7f', 'latin1'))).toBe('a\\x2a\\x7f');
    expect(formatRowKey(Buffer.alloc(0))).toBe('');
    expect(formatSampleKey(Buffer.alloc(0))).toBe('*');
    expect(formatSampleKey(Buffer.from('m'))).toBe('m');
  });

  test('two different ranges never look alike: the range can be read back from its text', () => {
    const anyKey = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 6 }),
      fc
        .array(fc.constantFrom('\\', '*', ',', ' ', 'x', '2', 'a', 'c', '5', ')', '(', ']', '[', '\x00'), {
          minLength: 1,
          maxLength: 8,
        })
        .map((text) => Buffer.from(text.join(''))),
    );
    const anyBound: fc.Arbitrary<Bound> = fc.oneof(
      fc.constant(UNBOUNDED),
      fc.record({
        kind: fc.constantFrom('closed' as const, 'open' as const),
        key: anyKey.map((key) => Buffer.from(key)),
      }),
    );
    fc.assert(
      fc.property(anyBound, anyBound, (start, end) => {
        expect(parsed(formatRange({ start, end }))).toEqual({ start, end });
      }),
      { numRuns: 2000 },
    );
  });
});

/** Reads a rendering by its own rules: the first `, ` ends the start, because a comma of a key is escaped. */
function parsed(text: string): RowRange {
  const middle = text.indexOf(', ');
  const bound = (rendered: string, isClosed: boolean): Bound => {
    if (rendered === '*') return UNBOUNDED;
    const key = rendered.replaceAll(/\\x([0-9a-f]{2})/g, (_all, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    return { kind: isClosed ? 'closed' : 'open', key: Buffer.from(key, 'latin1') };
  };
  return {
    start: bound(text.slice(1, middle), text.startsWith('[')),
    end: bound(text.slice(middle + 2, -1), text.endsWith(']')),
  };
}
