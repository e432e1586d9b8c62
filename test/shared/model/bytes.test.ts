import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareBytes, printableBytes } from '../../../shared/model/bytes.ts';
import { anyBytes } from '../../support/arbitraries.ts';

test('bytes are ordered as unsigned, and a prefix before what it begins', () => {
  const ordered = ['', '00', '0001', '01', '7f', '80', 'ff', 'ff00'].map((hex) => Buffer.from(hex, 'hex'));
  expect([...ordered].reverse().toSorted(compareBytes)).toEqual(ordered);
});

test('printable ASCII is shown as it is, the rest and the backslash as hex', () => {
  expect(printableBytes(Buffer.from('user#42 ~'))).toBe('user#42 ~');
  expect(printableBytes(Buffer.from('é\n\\\x7f\0', 'utf8'))).toBe('\\xc3\\xa9\\x0a\\x5c\\x7f\\x00');
  expect(printableBytes(Buffer.alloc(0))).toBe('');
});

test('what is longer than the limit is cut and tells its length', () => {
  expect(printableBytes(Buffer.alloc(64, 'a'))).toBe('a'.repeat(64));
  expect(printableBytes(Buffer.alloc(65, 'a'))).toBe(`${'a'.repeat(64)}… (65 bytes)`);
  expect(printableBytes(Buffer.from('abcdef'), 3)).toBe('abc… (6 bytes)');
});

test('the text is printable ASCII and gives back every byte', () => {
  fc.assert(
    fc.property(anyBytes(64), (bytes) => {
      const text = printableBytes(bytes);
      expect(text).toMatch(/^[ -~]*$/);
      const back = text.replaceAll(/\\x([0-9a-f]{2})/g, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      );
      expect(Buffer.from(back, 'latin1').equals(bytes)).toBe(true);
    }),
    { seed: 5 },
  );
});
