import { expect, test } from 'vitest';
import { SCAN_LETTER_ATTRIBUTES } from '../../../shared/letters/attributes.ts';
import { scanLetter } from '../../support/scan-letter.ts';

test('a letter of a scan has the attributes of its table, and those of its row', () => {
  const { data, attributes } = scanLetter({ rowKey: Buffer.from('r1'), data: Buffer.alloc(1_000_001, 'x') });
  expect(data).toHaveLength(1_000_000);
  expect(attributes).toEqual({
    'dlq-connector': 'bigtable',
    'dlq-pipeline': 'rows',
    'dlq-run': 'run-1',
    'dlq-split': 'split-7',
    'dlq-reason': 'form',
    'dlq-error': 'value: must be UTF-8',
    'dlq-original-bytes': '1000001',
    'row-key': 'r1',
  });
  const ofTheTable = Object.values(SCAN_LETTER_ATTRIBUTES).map(({ name }) => name);
  expect(Object.keys(attributes).filter((name) => name !== 'row-key')).toEqual(expect.arrayContaining(ofTheTable));
});

test('a letter that holds all there is names no size, and one of several rows no row', () => {
  const { attributes } = scanLetter();
  expect(attributes).not.toHaveProperty('dlq-original-bytes');
  expect(attributes).not.toHaveProperty('row-key');
});

test('a problem is cut to what an attribute holds, between two characters', () => {
  const { attributes } = scanLetter({ problem: `${'x'.repeat(1023)}é` });
  expect(attributes['dlq-error']).toBe('x'.repeat(1023));
});
