import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RecordError } from '../../../../shared/base/errors.ts';
import type { CellType, PlainCellType } from '../../../../shared/mapping/codecs/cell-types.ts';
import { type CellCodec, cellCodec, type CellEncoding } from '../../../../shared/mapping/codecs/cell-codec.ts';
import { type FieldValue, Instant, NumberText } from '../../../../shared/mapping/values/field-value.ts';

type Present = NonNullable<FieldValue>;

const plain = (kind: PlainCellType): CellType => ({ kind });
const decimal = (precision: number, scale: number): CellType => ({ kind: 'decimal', precision, scale });
const millis: CellType = { kind: 'timestamp', unit: 'millis', truncateToMillis: false };
const rfc3339: CellType = { kind: 'timestamp', unit: 'rfc3339', truncateToMillis: false };
const codec = (type: CellType, encoding: CellEncoding = 'binary'): CellCodec =>
  cellCodec({ type, encoding, nullString: 'null' });
const instant = (epochMillis: bigint): Instant => new Instant(epochMillis * 1_000_000n);
const number = (text: string): NumberText => new NumberText(text);

/** Type, what the field holds, its bytes in hex, and what reading the bytes gives (absent = what the field held). */
const GOLDEN: [name: string, type: CellType, value: Present, hex: string, back?: FieldValue][] = [
  ['string', plain('string'), 'grüße', '6772c3bcc39f65'],
  ['an empty string', plain('string'), '', ''],
  ['true', plain('boolean'), true, 'ff'],
  ['false', plain('boolean'), false, '00'],
  ['bytes', plain('bytes'), Buffer.from('00ff80', 'hex'), '00ff80'],
  ['bytes in Base64', plain('bytes'), 'AP+A', '00ff80', Buffer.from('00ff80', 'hex')],
  ['raw text', plain('raw'), 'a', '61', Buffer.from('a')],
  ['int8 −128', plain('int8'), -128, '80', -128n],
  ['int8 127', plain('int8'), 127n, '7f'],
  ['int16 −2', plain('int16'), -2n, 'fffe'],
  ['int16 32767', plain('int16'), 32767n, '7fff'],
  ['int32 −2147483648', plain('int32'), -2147483648n, '80000000'],
  ['int32 1', plain('int32'), number('1.0'), '00000001', 1n],
  ['int64 10000000001922600', plain('int64'), number('10000000001922600'), '002386f26fde5628', 10000000001922600n],
  ['int64 as text', plain('int64'), '-9223372036854775808', '8000000000000000', -(2n ** 63n)],
  ['int64 −1', plain('int64'), -1n, 'ffffffffffffffff'],
  ['float 1.5', plain('float'), 1.5, '3fc00000'],
  ['float −0', plain('float'), number('-0'), '80000000', -0],
  ['float rounded', plain('float'), number('0.1'), '3dcccccd', Math.fround(0.1)],
  ['double 0.1', plain('double'), number('0.1'), '3fb999999999999a', 0.1],
  ['double NaN', plain('double'), 'NaN', '7ff8000000000000', Number.NaN],
  ['double −Infinity', plain('double'), '-Infinity', 'fff0000000000000', -Infinity],
  ['date', plain('date'), '1970-01-02', '00000001'],
  ['date before the epoch', plain('date'), '1969-12-31', 'ffffffff'],
  ['date as days', plain('date'), 20786, '00005132', '2026-11-29'],
  ['time', plain('time'), '23:59:59.999', '05265bff'],
  ['time as millis', plain('time'), 1000, '000003e8', '00:00:01'],
  ['interval-year-month', plain('interval-year-month'), -14n, 'fffffff2'],
  ['interval-day-second', plain('interval-day-second'), 86_400_000n, '0000000005265c00'],
  ['timestamp from millis', millis, 1690825888385, '00000189ad139281', instant(1690825888385n)],
  ['timestamp before the epoch', rfc3339, '1969-12-31T23:59:59.999Z', 'ffffffffffffffff', instant(-1n)],
  ['timestamp with an offset', rfc3339, '1970-01-01T01:00:00+01:00', '0000000000000000', instant(0n)],
  ['decimal(10,2) 1.5', decimal(10, 2), number('1.5'), '000000020096', number('1.50')],
  ['decimal(10,2) −1.28', decimal(10, 2), '-1.28', '0000000280', number('-1.28')],
  ['decimal(10,2) 1.28 needs a sign byte', decimal(10, 2), '1.28', '000000020080', number('1.28')],
  ['decimal(5,0) 0', decimal(5, 0), 0, '0000000000', number('0')],
  ['decimal(5,0) −1', decimal(5, 0), -1, '00000000ff', number('-1')],
  ['decimal(38,0) the largest', decimal(38, 0), 10n ** 38n - 1n, '000000004b3b4ca85a86c47a098a223fffffffff', number('9'.repeat(38))],
  ['json', plain('json'), { a: number('1e400'), b: [null, true, 'x'], c: 10n }, '7b2261223a31653430302c2262223a5b6e756c6c2c747275652c2278225d2c2263223a31307d', { a: number('1e400'), b: [null, true, 'x'], c: 10 }],
]; // prettier-ignore

describe('binary, golden bytes both ways', () => {
  test.each(GOLDEN)('%s', (_name, type, value, hex, back = value) => {
    expect(codec(type).encode(value, 'f').toString('hex')).toBe(hex);
    expect(codec(type).decode(Buffer.from(hex, 'hex'), 'f')).toEqual(back);
  });

  test('any byte but 00 reads as true', () => {
    expect(codec(plain('boolean')).decode(Buffer.of(1), 'f')).toBe(true);
  });
});

describe('text, golden both ways', () => {
  test.each<[CellType, Present, string, FieldValue]>([
    [plain('string'), 'grüße', 'grüße', 'grüße'],
    [plain('boolean'), true, 'true', true],
    [plain('boolean'), false, 'false', false],
    [plain('bytes'), Buffer.from('00ff80', 'hex'), 'AP+A', Buffer.from('00ff80', 'hex')],
    [plain('int64'), number('-9223372036854775808'), '-9223372036854775808', -(2n ** 63n)],
    [plain('double'), number('1e21'), '1e+21', 1e21],
    [plain('double'), number('-0'), '-0', -0],
    [plain('float'), 'NaN', 'NaN', Number.NaN],
    [plain('date'), 20786, '2026-11-29', '2026-11-29'],
    [plain('time'), '01:02:03', '01:02:03', '01:02:03'],
    [plain('interval-year-month'), 5, '5', 5n],
    [decimal(10, 3), '-0.5', '-0.500', number('-0.500')],
    [millis, 1, '1970-01-01T00:00:00.001Z', instant(1n)],
  ])('%o of %o is %s', (type, value, text, back) => {
    expect(codec(type, 'text').encode(value, 'f').toString()).toBe(text);
    expect(codec(type, 'text').decode(Buffer.from(text), 'f')).toEqual(back);
  });
});

describe('nulls', () => {
  test('a null text is the null string, every other null is empty', () => {
    expect(cellCodec({ type: plain('string'), encoding: 'binary', nullString: '\\N' }).nullBytes.toString()).toBe(
      '\\N',
    );
    expect(codec(plain('int32')).nullBytes).toHaveLength(0);
  });

  test('the bytes of a null read as null only where null is possible', () => {
    expect(codec(plain('string')).decodeNullable(Buffer.from('null'), 'f')).toBeNull();
    expect(codec(plain('string')).decode(Buffer.from('null'), 'f')).toBe('null');
    expect(codec(plain('int32')).decodeNullable(Buffer.alloc(0), 'f')).toBeNull();
    expect(codec(plain('int32')).decodeNullable(Buffer.from('00000007', 'hex'), 'f')).toBe(7n);
    expect(() => codec(plain('int32')).decode(Buffer.alloc(0), 'f')).toThrow('f: must be 4 bytes, got 0');
  });
});

describe('refused, with the path and the rule and without the value', () => {
  test.each<[CellType, Present, string]>([
    [plain('string'), 7, 'must be a text, got a number'],
    [plain('string'), 'secret\ud800', 'must be well-formed Unicode, got a text'],
    [plain('boolean'), 'true', 'must be a boolean, got a text'],
    [plain('bytes'), 'AP-A', 'must be bytes or canonical padded Base64 text'],
    [plain('bytes'), 'AB==', 'must be bytes or canonical padded Base64 text'],
    [plain('int8'), 128, 'must be an integer from −2^7 to 2^7 − 1'],
    [plain('int8'), -129, 'must be an integer from −2^7'],
    [plain('int16'), 32768, 'from −2^15'],
    [plain('int32'), number('2147483648'), 'from −2^31'],
    [plain('int32'), number('1.5'), 'must be an integer'],
    [plain('int64'), number('9223372036854775808'), 'from −2^63'],
    [plain('int64'), number('1e999999999'), 'from −2^63'],
    [plain('int64'), '0x10', 'must be an integer'],
    [plain('int64'), true, 'must be an integer'],
    [plain('float'), number('3.5e38'), 'range of a 32-bit float'],
    [plain('double'), number('1e400'), 'range of a 64-bit float'],
    [plain('double'), '', 'range of a 64-bit float, got an empty text'],
    [plain('double'), 2n ** 1024n, 'range of a 64-bit float'],
    [plain('date'), '2026-02-29', 'must be a date, YYYY-MM-DD'],
    [plain('date'), '29.11.2026', 'must be a date, YYYY-MM-DD'],
    [plain('time'), '24:00:00', 'must be a time of day'],
    [plain('time'), '00:00:00.0001', 'with milliseconds at most'],
    [plain('time'), -1, 'must be a time of day'],
    [decimal(3, 1), '100', 'must be a decimal of at most 3 digits, 1 of them after the point'],
    [decimal(3, 1), number('0.05'), 'must be a decimal of at most 3 digits'],
    [decimal(38, 0), number('1e401'), 'must be a decimal'],
    [millis, '1970-01-01T00:00:00Z', 'must be a count of millis since the epoch'],
    [rfc3339, 5, 'must be RFC 3339 text with an offset, got a number'],
    [rfc3339, '2026-11-29T00:00:00', 'must be RFC 3339 text with an offset'],
    [rfc3339, '2026-11-29T00:00:60Z', 'must be RFC 3339'],
    [rfc3339, '2026-11-29T00:00:00.0005Z', 'must not be finer than a millisecond'],
    [plain('json'), ['secret\ud800'], 'f.0: must be well-formed Unicode'],
    [plain('raw'), 5, 'must be bytes or a text, got a number'],
  ])('%o refuses %o', (type, value, rule) => {
    expect(() => codec(type).encode(value, 'f')).toThrow(RecordError);
    expect(() => codec(type).encode(value, 'f')).toThrow(rule);
    expect(() => codec(type).encode(value, 'f')).toThrow(/^f/);
    expect(() => codec(type).encode(value, 'f')).not.toThrow('secret');
  });

  test.each<[string, CellType, string, string]>([
    ['a text that is not UTF-8', plain('string'), 'ff', 'must be UTF-8'],
    ['a long boolean', plain('boolean'), 'ffff', 'must be 1 byte, got 2'],
    ['a short double', plain('double'), '00', 'must be 8 bytes, got 1'],
    ['a decimal without digits', decimal(5, 2), '00000002', 'at least one digit byte'],
    ['a decimal beyond its precision, never null', decimal(3, 2), '0000000003e8', 'got a larger number'],
    ['a decimal with an absurd scale', decimal(3, 2), '7fffffff01', 'must have a scale'],
    ['text that is no JSON', plain('json'), '7b', 'must be JSON'],
  ])('reading %s', (_name, type, hex, rule) => {
    expect(() => codec(type).decode(Buffer.from(hex, 'hex'), 'f')).toThrow(rule);
  });
});

test('a timestamp is truncated towards the past where that was asked for', () => {
  const truncating = codec({ kind: 'timestamp', unit: 'micros', truncateToMillis: true });
  expect(truncating.encode(1999, 'f').readBigInt64BE()).toBe(1n);
  expect(truncating.encode(-1, 'f').readBigInt64BE()).toBe(-1n);
});

test('a stored decimal of another scale is rescaled half up', () => {
  const read = (hex: string): FieldValue => codec(decimal(10, 1)).decode(Buffer.from(hex, 'hex'), 'f');
  expect(read('0000000205')).toEqual(number('0.1')); // 0.05
  expect(read('00000002fb')).toEqual(number('-0.1')); // −0.05
  expect(read('0000000204')).toEqual(number('0.0')); // 0.04
  expect(read('fffffffe05')).toEqual(number('500.0')); // 5 × 10^2
});

describe('decode(encode(x)) = x', () => {
  const check = <Value extends Present>(type: CellType, values: fc.Arbitrary<Value>, back: (value: Value) => FieldValue = (value) => value): void => {
    for (const encoding of ['binary', 'text'] as const) {
      if (encoding === 'text' && (type.kind === 'raw' || type.kind === 'json')) continue;
      const both = codec(type, encoding);
      fc.assert(
        fc.property(values, (value) => {
          const bytes = both.encode(value, 'f');
          const read = both.decode(bytes, 'f');
          expect(read).toEqual(back(value));
          expect(read === null ? undefined : both.encode(read, 'f')).toEqual(
            // A timestamp reads as an instant, which its own unit takes back.
            bytes,
          );
        }),
        { seed: 20261129 },
      );
    }
  }; // prettier-ignore
  const wellFormed = fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed());
  const signed = (bits: number): fc.Arbitrary<bigint> =>
    fc.bigInt({ min: -(2n ** BigInt(bits - 1)), max: 2n ** BigInt(bits - 1) - 1n });

  test('texts', () => {
    check(plain('string'), wellFormed);
    check(plain('raw'), wellFormed, (text) => Buffer.from(text));
  });
  test('booleans', () => {
    check(plain('boolean'), fc.boolean());
  });
  test('bytes', () => {
    check(plain('bytes'), fc.uint8Array().map((bytes) => Buffer.from(bytes))); // prettier-ignore
  });
  test.each([
    ['int8', 8],
    ['int16', 16],
    ['int32', 32],
    ['int64', 64],
    ['interval-year-month', 32],
    ['interval-day-second', 64],
  ] as const)('%s', (kind, bits) => {
    check(plain(kind), signed(bits));
    check(plain(kind), signed(bits).map(String), BigInt);
    check(plain(kind), signed(bits).map((value) => number(String(value))), ({ text }) => BigInt(text)); // prettier-ignore
  });
  test('floats', () => {
    check(plain('double'), fc.double({ noNaN: true, noDefaultInfinity: true }));
    check(plain('float'), fc.float({ noNaN: true, noDefaultInfinity: true }));
  });
  test('decimals', () => {
    const unscaled = fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n });
    check(decimal(38, 0), unscaled, (value) => number(String(value)));
    const places = unscaled.map((value) => {
      const digits = String(value < 0n ? -value : value).padStart(10, '0');
      return number(`${value < 0n ? '-' : ''}${digits.slice(0, -9)}.${digits.slice(-9)}`);
    });
    check(decimal(38, 9), places);
  });
  test('days, times and instants', () => {
    check(plain('date'), fc.integer({ min: -719_528, max: 2_932_896 }), (days) => new Date(days * 86_400_000).toISOString().slice(0, 10)); // prettier-ignore
    check(plain('time'), fc.integer({ min: 0, max: 86_399_999 }), (at) => new Date(at).toISOString().slice(11, -1).replace('.000', '')); // prettier-ignore
    const range = { min: -62_135_596_800_000, max: 253_402_300_799_999 };
    check(millis, fc.integer(range), (at) => instant(BigInt(at)));
    check(rfc3339, fc.integer(range).map((at) => new Date(at).toISOString()), (text) => instant(BigInt(Date.parse(text)))); // prettier-ignore
  });
  test('JSON documents', () => {
    const documents = fc.jsonValue({ maxDepth: 4 }).filter((value) => value !== null && JSON.stringify(value).isWellFormed() && !JSON.stringify(value).includes('\\ud'));
    fc.assert(
      fc.property(documents, (value) => {
        const json = codec(plain('json'));
        const once = json.encode(value as Present, 'f');
        expect(JSON.parse(once.toString())).toEqual(JSON.parse(JSON.stringify(value)));
        expect(json.encode(json.decode(once, 'f')!, 'f')).toEqual(once);
      }),
      { seed: 20261129 },
    );
  }); // prettier-ignore
});
