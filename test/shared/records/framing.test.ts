import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RecordError } from '../../../shared/base/errors.ts';
import type { ResolvedFraming } from '../../../shared/config/resolved.ts';
import { MAX_RECORDS } from '../../../shared/model/record.ts';
import { recordsOf } from '../../../shared/records/framing.ts';
import { pushedMessage } from '../../support/pushed-message.ts';
import { cpuMillis } from '../../support/cpu-time.ts';

const framed = (data: string | Buffer, framing: ResolvedFraming) =>
  recordsOf(pushedMessage({ data: Buffer.from(data) }), framing);

const texts = (data: string, framing: ResolvedFraming): string[] =>
  framed(data, framing).map((record) => record.data.toString());

test('every record knows its message and its place in it', () => {
  const message = pushedMessage({ data: Buffer.from('a\n\nb\nc') });
  const records = recordsOf(message, 'ndjson');
  expect(records.map(({ index }) => index)).toEqual([0, 1, 2]);
  for (const record of records) expect(record.message).toBe(message);
});

describe('a message of too many records', () => {
  const framings = [
    ['ndjson', (count: number) => '1\n \n'.repeat(count)],
    ['json-array', (count: number) => `[${Array.from({ length: count }, () => '1').join(',')}]`],
  ] as const;

  test.each(framings)('is refused as a whole at the first record too many: %s', (framing, message) => {
    expect(framed(message(MAX_RECORDS), framing)).toHaveLength(MAX_RECORDS);
    const tooMany = 'message: must hold at most 100000 records, got more';
    expect(() => framed(message(MAX_RECORDS + 1), framing)).toThrow(new RecordError(tooMany));
  });

  test('is decided before the rest is looked at: five million lines take no longer than those that are allowed', () => {
    const data = Buffer.alloc(10_000_000, 'x\n');
    const spent = cpuMillis(() => {
      expect(() => framed(data, 'ndjson')).toThrow(RecordError);
    });
    // Some 20 ms; to build five million records takes more than a second, and more memory than an instance has.
    expect(spent).toBeLessThan(1000);
  });

  test('blank lines are no records, however many', () => {
    expect(texts(`${'\n'.repeat(MAX_RECORDS + 1)}1`, 'ndjson')).toEqual(['1']);
  });
});

describe('single', () => {
  test.each(['', ' \n', '[1,2]', 'a\nb'])('a message is one record, byte for byte: %j', (data) => {
    expect(texts(data, 'single')).toEqual([data]);
  });
});

describe('ndjson', () => {
  test('lines end with a newline or CRLF, the last one without; blank lines are no records', () => {
    expect(texts('{"a":1}\r\n\r\n  \t\n{"b":2}\n\n{"c":3}', 'ndjson')).toEqual(['{"a":1}', '{"b":2}', '{"c":3}']);
    expect(texts('1\n', 'ndjson')).toEqual(['1']);
  });

  test.each(['', '\n', '\r\n \n'])('a message without a line that is not blank has no record: %j', (data) => {
    expect(texts(data, 'ndjson')).toEqual([]);
  });

  test('values that were joined by line ends come apart as they were', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.json(), fc.constantFrom('\n', '\r\n', '\n\n', ' \r\n'))),
        fc.boolean(),
        (lines, hasLastEnd) => {
          const joined = lines.map(([json, end]) => json + end).join('');
          expect(texts(hasLastEnd ? joined : joined.trimEnd(), 'ndjson')).toEqual(lines.map(([json]) => json));
        },
      ),
      { seed: 7, numRuns: 300 },
    );
  });
});

describe('json-array', () => {
  const anySpace = fc.constantFrom('', ' ', '\n', '\t ', '\r\n');

  test('elements come apart as they were written, whatever they hold and whatever space is between them', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anySpace, fc.json(), anySpace)), anySpace, (elements, around) => {
        const inner = elements.map(([before, json, after]) => before + json + after).join(',');
        expect(texts(`${around}[${inner}]${around}`, 'json-array')).toEqual(elements.map(([, json]) => json));
      }),
      { seed: 8, numRuns: 500 },
    );
  });

  test('strings may hold brackets, commas, quotes and backslashes', () => {
    const elements = ['"],["', '"\\"],["', '"\\\\"', '{"]":"[{,"}', '"\\\\\\"}"', '[[],[[",]"]]]', '"é…[😀"'];
    expect(texts(`[${elements.join(' , ')}]`, 'json-array')).toEqual(elements);
  });

  test('numbers keep their digits', () => {
    const elements = ['9007199254740993', '1.10', '1e400', '-0', '123456789012345678901234567890.0001'];
    expect(texts(`[${elements.join(',')}]`, 'json-array')).toEqual(elements);
  });

  test.each(['[]', ' [ ] ', '[\n\t]'])('an empty array has no record: %j', (data) => {
    expect(texts(data, 'json-array')).toEqual([]);
  });

  test('what a comma leaves empty is a record that is not JSON: nothing is skipped in silence', () => {
    expect(texts('[1,]', 'json-array')).toEqual(['1', '']);
    expect(texts('[,1]', 'json-array')).toEqual(['', '1']);
    expect(texts('[1,,2]', 'json-array')).toEqual(['1', '', '2']);
  });

  test('an element that is not JSON is one bad record among good ones', () => {
    expect(texts('[1, oops, {"a":2}]', 'json-array')).toEqual(['1', 'oops', '{"a":2}']);
  });

  test.each([
    ['nothing', ''],
    ['space', '  '],
    ['an object', '{"a":[1]}'],
    ['one value', '1'],
    ['an array without its end', '[1,2'],
    ['an array with an open element', '[{"a":1]'],
    ['two arrays', '[1],[2]'],
    ['two arrays, the first one with an object', '[{}],[{}]'],
    ['a bracket too many', '[1]]'],
    ['an array whose last bracket is in a string', '["a","b]'],
    ['an array whose last quote is escaped', '["a","b\\"]'],
    ['half an escape at the end', '["a\\]'],
    ['something after the array', '[1] x'],
    ['something before the array', 'x [1]'],
  ])('%s is refused as a whole', (_name, data) => {
    expect(() => texts(data, 'json-array')).toThrow(RecordError);
  });

  test('a message that JSON.parse takes for an array is never refused, and nothing else becomes records that are all JSON', () => {
    const anyText = fc.string({
      unit: fc.constantFrom('[', ']', '{', '}', '"', '\\', ',', ':', '1', ' '),
      maxLength: 14,
    });
    fc.assert(
      fc.property(
        anyText.map((text) => `[${text}]`),
        (data) => {
          const parsed = parse(data);
          let records: string[] | undefined;
          try {
            records = texts(data, 'json-array');
          } catch (error) {
            expect(error).toBeInstanceOf(RecordError);
          }
          const values = records?.map((record) => parse(record));
          if (parsed === undefined) expect(values?.every((value) => value !== undefined) ?? false).toBe(false);
          else expect(values).toEqual(parsed);
        },
      ),
      { seed: 9, numRuns: 3000 },
    );
  });

  test('an error quotes nothing of the message', () => {
    expect(() => texts('{"secret":"planted"}', 'json-array')).not.toThrow(/planted|secret/);
  });

  test('ten megabytes come apart in one pass', () => {
    const element = `{"text":"${'x'.repeat(90)}"}`;
    const count = 100_000;
    const data = Buffer.from(`[${Array.from({ length: count }, () => element).join(',')}]`);
    const spent = cpuMillis(() => {
      expect(framed(data, 'json-array')).toHaveLength(count);
    });
    // Some 100 ms; what grows with the square of the length would take minutes.
    expect(spent).toBeLessThan(3000);
  });
});

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
