import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAttributes } from '../../../../functions/cli/publish/attributes.ts';
import { orderingKeys } from '../../../../functions/cli/publish/ordering.ts';
import { createPacker, type PackOptions, type Packed } from '../../../../functions/cli/publish/pack.ts';
import { MAX_MESSAGE_BYTES } from '../../../../functions/cli/publish/split.ts';
import type { ResolvedFraming } from '../../../../shared/config/resolved.ts';
import { recordsOf } from '../../../../shared/records/framing.ts';

const OPTIONS: PackOptions = {
  framing: 'ndjson',
  recordsPerMessage: 2,
  attributes: {},
  orderingKeyOf: () => ({}),
  isFramed: false,
};

function pack(records: readonly (string | Buffer)[], options: Partial<PackOptions> = {}): Packed[] {
  const packer = createPacker({ ...OPTIONS, ...options });
  const packed = records.flatMap((data, index) =>
    packer.add({ at: { source: 'f', line: index + 1 }, data: Buffer.from(data) }),
  );
  return [...packed, ...packer.end()];
}

const texts = (packed: readonly Packed[]): string[] =>
  packed.map(({ message }) => message?.data.toString() ?? 'not a message');

const framed = (framing: ResolvedFraming, data: Buffer): Buffer[] =>
  recordsOf(
    { messageId: '1', publishTimeMicros: 0n, data, attributes: {}, orderingKey: '', subscription: '' },
    framing,
  ).map((record) => record.data);

test.each<[ResolvedFraming, number, string[]]>([
  ['single', 1, ['1', '2', '3']],
  ['ndjson', 1, ['1', '2', '3']],
  ['ndjson', 2, ['1\n2', '3']],
  ['json-array', 1, ['[1]', '[2]', '[3]']],
  ['json-array', 2, ['[1,2]', '[3]']],
  ['json-array', 9, ['[1,2,3]']],
])('three records in framing %s, %i to a message', (framing, recordsPerMessage, expected) => {
  expect(texts(pack(['1', '2', '3'], { framing, recordsPerMessage }))).toEqual(expected);
});

test('what is packed is what the pipeline takes apart', () => {
  const framings = fc.constantFrom<ResolvedFraming>('ndjson', 'json-array');
  fc.assert(
    fc.property(
      framings,
      fc.array(fc.jsonValue()),
      fc.integer({ min: 1, max: 5 }),
      fc.boolean(),
      (framing, values, size, isPretty) => {
        const records = values.map((value) => JSON.stringify(value, undefined, isPretty ? 2 : undefined));
        const packed = pack(records, { framing, recordsPerMessage: size });
        const read = packed.flatMap(({ message }) => framed(framing, message?.data ?? Buffer.alloc(0)));
        expect(read.map((data): unknown => JSON.parse(data.toString()))).toEqual(
          records.map((record): unknown => JSON.parse(record)),
        );
      },
    ),
  );
});

test('a message says which lines it holds', () => {
  expect(pack(['1', '2', '3']).map((each) => each.message && [each.from.line, each.to.line, each.records])).toEqual([
    [1, 2, 2],
    [3, 3, 1],
  ]);
});

test('input that is framed already is published as it is', () => {
  const options = { framing: 'json-array', recordsPerMessage: 1, isFramed: true } as const;
  expect(texts(pack(['[1,\n2]'], options))).toEqual(['[1,\n2]']);
});

test('records of two ordering keys never share a message, and their order is kept', () => {
  const records = ['{"u":"a","n":1}', '{"u":"a","n":2}', '{"u":"b","n":3}', '{"u":"a","n":4}'];
  const packed = pack(records, { recordsPerMessage: 10, orderingKeyOf: orderingKeys({ orderingField: 'u' }) });
  expect(packed.map(({ message }) => [message?.orderingKey, message?.data.toString()])).toEqual([
    ['a', `${String(records[0])}\n${String(records[1])}`],
    ['b', records[2]],
    ['a', records[3]],
  ]);
});

describe('size', () => {
  const half = Buffer.alloc(MAX_MESSAGE_BYTES / 2, 'x');

  test('a message is sealed before it would be too large', () => {
    const packed = pack([half, half, 'y'], { recordsPerMessage: 10 });
    expect(packed.map(({ message }) => message?.data.length)).toEqual([half.length, half.length + 2]);
  });

  test('attributes and ordering key count', () => {
    const record = Buffer.alloc(MAX_MESSAGE_BYTES - 10, 'x');
    const fitting = pack([record], { attributes: { name: 'valu' }, orderingKeyOf: () => ({ key: 'ab' }) });
    expect(fitting[0]?.message).toBeDefined();
    const [tooLarge] = pack([record], { attributes: { name: 'value' }, orderingKeyOf: () => ({ key: 'ab' }) });
    expect(tooLarge).toMatchObject({ problem: expect.stringContaining('larger than a message may be') as string });
  });

  test('an empty record needs an attribute', () => {
    expect(pack([''])).toEqual([
      { at: { source: 'f', line: 1 }, problem: 'is empty; a message needs data or an attribute' },
    ]);
    expect(pack([''], { attributes: { a: 'b' } })[0]?.message?.data).toHaveLength(0);
  });
});

describe('ordering keys', () => {
  const keyOf = (field: string, record: string) => orderingKeys({ orderingField: field })(Buffer.from(record));

  test.each([
    ['user.id', '{"user":{"id":"u1"}}', 'u1'],
    ['id', '{"id":42}', '42'],
    ['id', '{"id":true}', 'true'],
    ['id', '{"id":9007199254740991}', '9007199254740991'],
  ])('%s of %s', (field, record, key) => {
    expect(keyOf(field, record)).toEqual({ key });
  });

  test.each(['{}', '{"id":null}', '{"id":{}}', '{"id":9007199254740993}', '{"id":0.5}', '[]', 'no', '"id"'])(
    'a record without a text or an exact number there has none: %s',
    (record) => {
      expect(keyOf('id', record).problem).toMatch(/^has no text or exact number in the field "id"/);
    },
  );

  test('names of the prototype are no fields', () => {
    expect(keyOf('constructor.name', '{}').problem).toBeDefined();
  });

  test('are at most 1,024 bytes and not empty', () => {
    expect(orderingKeys({ orderingKey: 'ä'.repeat(512) })(Buffer.alloc(0))).toEqual({ key: 'ä'.repeat(512) });
    expect(() => orderingKeys({ orderingKey: `${'ä'.repeat(512)}x` })).toThrow('at most 1024 bytes');
    expect(() => orderingKeys({ orderingKey: '' })).toThrow('must not be empty');
    expect(keyOf('id', '{"id":""}').problem).toMatch('must not be empty');
  });

  test('come from one place', () => {
    expect(() => orderingKeys({ orderingKey: 'a', orderingField: 'b' })).toThrow('exclude each other');
  });
});

describe('attributes', () => {
  test('are split at the first equals sign', () => {
    expect(parseAttributes(['a=1', 'b=x=y', 'c='])).toEqual({ a: '1', b: 'x=y', c: '' });
  });

  test('may have any name that Pub/Sub takes', () => {
    expect(Object.entries(parseAttributes(['__proto__=x']))).toEqual([['__proto__', 'x']]);
  });

  test.each([
    [['a'], 'must be name=value, got "a"'],
    [['=b'], 'must be name=value, got "=b"'],
    [['a=1', 'a=2'], '"a": is given twice'],
    [['google=1'], 'must not start with "goog"'],
    [[`${'k'.repeat(257)}=v`], 'a name of at most 256 bytes'],
    [[`k=${'v'.repeat(1025)}`], 'a value of at most 1024 bytes'],
    [Array.from({ length: 101 }, (_, index) => `k${index}=v`), 'a message may have 100 attributes, got 101'],
  ])('that Pub/Sub would refuse are refused: %#', (given, message) => {
    expect(() => parseAttributes(given)).toThrow(message);
  });
});
