import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RecordError } from '../../../../shared/base/errors.ts';
import { compiled, mapRecord } from '../mappings.ts';
import { jsonRecord, PUBLISH_TIME_MICROS, recordOf } from '../records.ts';
import type { InputRecord } from '../../../../shared/model/record.ts';

const families = { f: { columns: { v: { type: 'json', field: '@messageId' } } } };

/** The key that a record gets. */
async function keyOf(rowKey: unknown, record: InputRecord): Promise<string> {
  const write = await mapRecord({ rowKey, families }, record);
  return write?.kind === 'entry' ? write.entry.rowKey.toString('latin1') : 'no entry';
}

const sample = {
  id: 42,
  big: '12345678901234567890',
  name: 'grün',
  domain: 'www.example.com',
  at: 1_764_455_172_123,
  when: '2025-11-29T22:26:12.123456Z',
  nested: { list: [{ 'odd.name': 'x' }] },
  on: true,
  empty: '',
  nothing: null,
  Mixed: 'aBc',
  slash: 'a#b%c',
};

describe('a template renders', () => {
  test.each<[string, string]>([
    ['user-${id}', 'user-42'],
    ['$$${id}', '$42'],
    ['${nested.list.0."odd.name"}', 'x'],
    ['${on}', 'true'],
    ['${id|pad:6}', '000042'],
    ['${big|pad:20}', '12345678901234567890'],
    ['${id|hash:8}', '73475cb4'],
    ['${id|hash:4}${id}', '734742'],
    ['${id|salt:16}#${id}', '06#42'],
    ['${domain|reverse:.}', 'com.example.www'],
    ['${domain|reverse}', 'moc.elpmaxe.www'],
    ['${at|timestamp:millis|inverted:millis}', '9223370272399603684'],
    ['${when|timestamp:rfc3339|inverted:seconds}', '9223372035090320635'],
    ['${@publishTime|inverted:micros}', String(2n ** 63n - 1n - PUBLISH_TIME_MICROS)],
    ['${@publishTime|utc:year}/${@publishTime|utc:month}', '2025/2025-11'],
    ['${@publishTime|utc:day} ${@publishTime|utc:hour}', '2025-11-29 2025-11-29T22'],
    ['${@publishTime}', '2025-11-29T22:26:12.123456Z'],
    ['${@attributes.tenant.id}#${@orderingKey}#${@messageId}', 't#o#m-1'],
    ['${slash|escape}#${id}', 'a%23b%25c#42'],
    ['${slash|escape:b}', 'a#%62%25c'],
    ['${nothing|default:none}', 'none'],
    ['${gone|default:none}-${empty|default:"|}"}', 'none-|}'],
    ['${name|hex}', '6772c3bc6e'],
  ])('%s as %s', async (template, key) => {
    const parts = { attributes: { 'tenant.id': 't' }, orderingKey: 'o' };
    expect(await keyOf(template, recordOf(sample, parts))).toBe(key);
  }); // prettier-ignore

  test('numbers with every digit', async () => {
    expect(await keyOf('${n}', jsonRecord('{"n":10000000001922600}'))).toBe('10000000001922600');
    expect(await keyOf('${n}', jsonRecord('{"n":0.10}'))).toBe('0.10');
    expect(await keyOf('${n|pad:20}', jsonRecord('{"n":10000000001922600}'))).toBe('00010000000001922600');
  });

  test.each([['1'], ['1.0'], ['1e0'], ['"1.00"'], ['10e-1']])(
    'equal numbers as one text where it is asked to: %s',
    async (n) => {
      expect(await keyOf('${n|number}', jsonRecord(`{"n":${n}}`))).toBe('1');
    },
  );

  test('numbers in plain notation without an exponent, and nothing that is no number', async () => {
    expect(await keyOf('${n|number}', jsonRecord('{"n":-1200e-4}'))).toBe('-0.12');
    expect(await keyOf('${n|number}', jsonRecord('{"n":1e20}'))).toBe('100000000000000000000');
    await expect(keyOf('${n|number}', jsonRecord('{"n":"a"}'))).rejects.toThrow('n: must be a number, got a text');
  });

  test('letters in UTF-8 and in the asked case', async () => {
    expect(await keyOf('${name}', recordOf(sample))).toBe(Buffer.from('grün').toString('latin1'));
    expect(await keyOf('${Mixed|lower}-${Mixed|upper}', recordOf(sample))).toBe('abc-ABC');
  });
});

describe('refused by default', () => {
  test.each<[string, string, string]>([
    ['a null field', 'tenant#${nothing}', 'nothing: must not be null, got null'],
    ['a missing field', '${gone}#${id}', 'gone: must be there, got nothing'],
    ['a field of a null', '${nothing.deep}', 'nothing.deep: must not be null'],
    ['an empty text', 'tenant#${empty}', 'empty: must not be empty, got an empty text'],
    ['an attribute that is not set', '${@attributes.none}', '@attributes.none: must be there'],
    ['an ordering key that is not set', '${@orderingKey}', '@orderingKey: must not be empty'],
    ['a delimiter in the value', '${slash}#${id}', 'slash: must not contain the delimiter "#" of the template'],
    ['an object', '${nested}', 'nested: must be a text, a number, a boolean or an instant'],
    ['a list', '${nested.list}', 'nested.list: must be a text'],
    ['a text in a padded number', '${name|pad:5}', 'name: must be an integer from 0 with at most 5 digits'],
    ['a number too long to pad', '${big|pad:19}', 'with at most 19 digits'],
    ['an instant in another unit', '${when|timestamp:millis|inverted:millis}', 'when: must be a count of millis'],
  ])('%s', async (_name, template, rule) => {
    await expect(keyOf(template, recordOf(sample))).rejects.toThrow(RecordError);
    await expect(keyOf(template, recordOf(sample))).rejects.toThrow(rule);
  });

  test('a negative padded number, an instant before the epoch, a lone surrogate', async () => {
    await expect(keyOf('${n|pad:5}', recordOf({ n: -1 }))).rejects.toThrow('must be an integer from 0');
    await expect(keyOf('${n|timestamp:millis|inverted:millis}', recordOf({ n: -1 }))).rejects.toThrow(
      'from the epoch on',
    );
    await expect(keyOf('${n}', jsonRecord(String.raw`{"n":"\ud800"}`))).rejects.toThrow('well-formed Unicode');
  });

  test.each(['utc:day', 'utc:year', 'inverted:millis'])(
    'an instant beyond the years 0 to 9999, whose slices have another width, and says which year it read: %s',
    async (modifier) => {
      const key = (t: number): Promise<string> => keyOf(`\${t|timestamp:millis|${modifier}}`, recordOf({ t }));
      await expect(key(1_767_225_600_000_000)).rejects.toThrow(RecordError);
      await expect(key(1_767_225_600_000_000)).rejects.toThrow(
        't: must be an instant of the years 0 to 9999, got one of the year 57971; is it a count in another unit?',
      );
      await expect(key(253_402_300_800_000)).rejects.toThrow('got one of the year 10000');
      await expect(key(253_402_300_799_999)).resolves.toMatch(/^9999|^\d{19}$/);
      await expect(key(-62_167_219_200_001)).rejects.toThrow('got one of the year -1');
    },
  );

  test('a key over 4096 bytes', async () => {
    expect(await keyOf('${n}', recordOf({ n: 'x'.repeat(4096) }))).toHaveLength(4096);
    await expect(keyOf('${n}', recordOf({ n: 'x'.repeat(4097) }))).rejects.toThrow('at most 4096 bytes, got 4097');
  });

  test('a value that ends like the delimiter begins', async () => {
    await expect(keyOf('${a}--${b}', recordOf({ a: 'x-', b: 'y' }))).rejects.toThrow(
      'must not contain the delimiter "--"',
    );
    expect(await keyOf('${a}--${b}', recordOf({ a: 'x', b: '-y' }))).toBe('x---y');
  });
});

describe('a policy', () => {
  test('lets nulls, empty texts and delimiters through where it says so', async () => {
    const template = '${a}#${b}';
    expect(await keyOf({ template, onNull: 'empty' }, recordOf({ b: 1 }))).toBe('#1');
    expect(await keyOf({ template, onEmpty: 'allow' }, recordOf({ a: '', b: 1 }))).toBe('#1');
    expect(await keyOf({ template, onDelimiter: 'allow' }, recordOf({ a: '#', b: 1 }))).toBe('##1');
    expect(await keyOf({ template, onDelimiter: 'escape' }, recordOf({ a: '#%', b: '#' }))).toBe('%23%25##');
  });

  test('never lets an empty key through', async () => {
    await expect(keyOf({ template: '${a}', onNull: 'empty' }, recordOf({}))).rejects.toThrow(
      'row key: must not be empty',
    );
  });
});

describe('a typed key', () => {
  test('is the bytes of its type', async () => {
    expect(await keyOf({ field: 'id', type: 'int64' }, recordOf(sample))).toBe('\0\0\0\0\0\0\0*');
    expect(await keyOf({ field: '@data', type: 'raw' }, recordOf('"k"'))).toBe('"k"');
  });

  test('is never null or empty', async () => {
    const key = { field: 'a', type: 'string' };
    await expect(keyOf(key, recordOf({ a: null }))).rejects.toThrow('a: must be there and not null, got null');
    await expect(keyOf(key, recordOf({}))).rejects.toThrow('a: must be there and not null, got nothing');
    await expect(keyOf(key, recordOf({ a: '' }))).rejects.toThrow('row key: must not be empty');
  });
});

test.each([
  ['rejecting', { template: '${a}#${b}::${c}' }],
  ['escaping', { template: '${a}#${b}::${c}', onDelimiter: 'escape' }],
  ['fixed widths', { template: '${a|hash:64}${b|hash:64}${c}' }],
])('%s: different fields never share a key', async (_name, rowKey) => {
  const { prepare } = await compiled({ rowKey, families });
  const key = (fields: readonly string[]): string | undefined => {
    const [a, b, c] = fields;
    const record = recordOf({ a, b, c });
    try {
      const write = prepare(record, { publishTimeMicros: 0n })?.write();
      return write?.kind === 'entry' ? write.entry.rowKey.toString('hex') : undefined;
    } catch (error) {
      expect(error).toBeInstanceOf(RecordError);
      return undefined;
    }
  };
  const field = fc.string({ unit: fc.constantFrom('a', '#', ':', '%', '2', '3'), minLength: 1, maxLength: 4 });
  const fields = fc.tuple(field, field, field);
  fc.assert(
    fc.property(fields, fields, (left, right) => {
      const [leftKey, rightKey] = [key(left), key(right)];
      if (leftKey !== undefined && leftKey === rightKey) expect(left).toEqual(right);
    }),
    { seed: 20261129, numRuns: 3000 },
  );
});
