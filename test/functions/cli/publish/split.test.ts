import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CommandError } from '../../../../functions/cli/errors.ts';
import { MAX_MESSAGE_BYTES, createSplitter, type Format } from '../../../../functions/cli/publish/split.ts';

const split = (format: Format, chunks: readonly (string | Buffer)[]): [line: number, data: string | undefined][] => {
  const splitter = createSplitter(format, 'input');
  const pieces = chunks.flatMap((chunk) => splitter.push(Buffer.from(chunk)));
  return [...pieces, ...splitter.end()].map(({ line, data }) => [line, data?.toString()]);
};

/** Cuts a text into chunks at the given places, bytes of a character included. */
function cut(text: string, places: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text);
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

describe('lines', () => {
  test.each([
    [
      'a\nb\n',
      [
        [1, 'a'],
        [2, 'b'],
      ],
    ],
    [
      'a\r\nb',
      [
        [1, 'a'],
        [2, 'b'],
      ],
    ],
    [
      '\n \n a \n\t\nb',
      [
        [3, ' a '],
        [5, 'b'],
      ],
    ],
    ['', []],
    ['\n', []],
  ])('%j', (text, expected) => {
    expect(split('lines', [text])).toEqual(expected);
    expect(split('ndjson', [text])).toEqual(expected);
  });

  test('a line that no message can hold is named and not kept, and the next one is read', () => {
    const chunk = Buffer.alloc(1_000_000, 'x');
    const pieces = split('lines', ['a\n', ...Array<Buffer>(11).fill(chunk), '\nb\n']);
    expect(pieces).toEqual([
      [1, 'a'],
      [2, undefined],
      [3, 'b'],
    ]);
  });

  test('a line as long as a message may be is kept', () => {
    const [piece] = split('lines', [Buffer.alloc(MAX_MESSAGE_BYTES, 'x'), '\n']);
    expect(piece?.[1]).toHaveLength(MAX_MESSAGE_BYTES);
  });

  test('where the chunks end does not matter', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), fc.array(fc.nat()), (lines, places) => {
        const text = lines.join('\n');
        expect(split('lines', cut(text, places))).toEqual(split('lines', [text]));
      }),
    );
  });
});

describe('a JSON array', () => {
  test('is cut into its elements as they are written, with the line each begins at', () => {
    const text = '[\n  {"a": 10000000001922600},\n  [1, [2]],\n\n  "x, ]\\" {",\n  1e400\n]\n';
    expect(split('json-array', [text])).toEqual([
      [2, '{"a": 10000000001922600}'],
      [3, '[1, [2]]'],
      [5, '"x, ]\\" {"'],
      [6, '1e400'],
    ]);
  });

  test.each(['[]', ' [ ] ', '[\n]\n'])('may be empty: %j', (text) => {
    expect(split('json-array', [text])).toEqual([]);
  });

  test.each([
    ['{"a": 1}', 'input, line 1: must be a JSON array'],
    ['', 'input, line 1: must be a JSON array'],
    ['\n[1,\n2', 'input, line 3: the JSON array is cut off'],
    ['["a', 'input, line 1: the JSON array is cut off'],
    ['[1] [2]', 'input, line 1: text follows the JSON array'],
    ['[1,,2]', 'input, line 1: an element of the array is missing'],
    ['[1,\n]', 'input, line 2: an element of the array is missing'],
    ['[1}', 'input, line 1: brackets do not match'],
  ])('that is broken is refused with its line: %j', (text, message) => {
    expect(() => split('json-array', [text])).toThrow(CommandError);
    expect(() => split('json-array', [text])).toThrow(message);
  });

  test('gives the elements of any JSON array, wherever the chunks end', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.boolean(), fc.array(fc.nat()), (elements, isPretty, places) => {
        const text = JSON.stringify(elements, undefined, isPretty ? 2 : undefined);
        const pieces = split('json-array', cut(text, places));
        expect(pieces.map(([, data]): unknown => JSON.parse(data ?? ''))).toEqual(
          elements.map((element): unknown => JSON.parse(JSON.stringify(element))),
        );
      }),
    );
  });
});

test('a raw input is one record, whatever is in it', () => {
  expect(split('raw', ['a\n', '', 'b'])).toEqual([[1, 'a\nb']]);
  expect(split('raw', [])).toEqual([[1, '']]);
});
