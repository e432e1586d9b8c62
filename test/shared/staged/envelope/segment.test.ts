import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Envelope } from '../../../../shared/staged/envelope/envelope.ts';
import { StoredBytesError } from '../../../../shared/staged/envelope/envelope-fields.ts';
import { SegmentPacker } from '../../../../shared/staged/envelope/pack.ts';
import {
  decodeSegment,
  EMPTY_SEGMENT_BYTES,
  encodeSegment,
  itemBytes,
} from '../../../../shared/staged/envelope/segment.ts';
import { cell, envelopeOf, rowEntry } from '../../../support/envelopes.ts';

const anyEnvelope = fc
  .record({
    number: fc.nat(1000),
    valueBytes: fc.nat(300),
    messageId: fc.string({ maxLength: 20, unit: fc.constantFrom('1', '7', 'é') }),
    recordIndex: fc.nat(2 ** 31),
    publishTimeMicros: fc.bigInt(0n, 2n ** 62n),
  })
  .map(({ number, valueBytes, ...source }) =>
    envelopeOf(number, rowEntry(`k${number}`, cell('x'.repeat(valueBytes))), { source }),
  );

test('envelopes read back from their segment in order, sources included', () => {
  fc.assert(
    fc.property(fc.array(anyEnvelope, { maxLength: 6 }), (envelopes) => {
      expect(decodeSegment(encodeSegment(envelopes))).toEqual(envelopes);
    }),
    { seed: 44, numRuns: 200 },
  );
});

test('an item is never larger than it was taken for', () => {
  fc.assert(
    fc.property(anyEnvelope, (envelope) => {
      const bytes = encodeSegment([envelope]).length;
      expect(bytes).toBeLessThanOrEqual(EMPTY_SEGMENT_BYTES + itemBytes(envelope));
    }),
    { seed: 45, numRuns: 200 },
  );
});

test('a segment begins with its version, and another version is left alone', () => {
  const payload = encodeSegment([envelopeOf(1, rowEntry('k'))]);
  expect(payload.subarray(0, 2).toString('hex')).toBe('0801');
  payload[1] = 2;
  expect(() => decodeSegment(payload)).toThrow(StoredBytesError);
  expect(() => decodeSegment(payload)).toThrow(/version 2 .*reads version 1/);
});

test('a damaged segment is refused whole, and tells which item', () => {
  const payload = encodeSegment([envelopeOf(1, rowEntry('k')), envelopeOf(2, rowEntry('k'))]);
  expect(() => decodeSegment(payload.subarray(0, payload.length - 1))).toThrow(/items\[1\]/);
  expect(() => decodeSegment(Buffer.alloc(0))).toThrow(StoredBytesError);
  fc.assert(
    fc.property(fc.nat(payload.length - 1), fc.nat(255), (at, byte) => {
      const damaged = Buffer.from(payload);
      damaged[at] = byte;
      try {
        expect(decodeSegment(damaged).length).toBe(2);
      } catch (error) {
        expect(error).toBeInstanceOf(StoredBytesError);
      }
    }),
    { seed: 46, numRuns: 1000 },
  );
});

test('packed segments hold everything once, in order, and none that could be smaller is above the bound', () => {
  const anyStep = fc.oneof({ weight: 5, arbitrary: anyEnvelope }, fc.integer({ min: 1, max: 3 }));
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 30 }), fc.integer({ min: 100, max: 1500 }), (steps, maxBytes) => {
      const packer = new SegmentPacker<{ envelope: Envelope }>(maxBytes);
      const added: Envelope[] = [];
      const taken: Envelope[][] = [];
      for (const step of [...steps, 1000]) {
        if (typeof step === 'number') {
          taken.push(...packer.take(step).map((items) => items.map(({ envelope }) => envelope)));
        } else {
          packer.add({ envelope: step });
          added.push(step);
        }
      }
      expect(packer.isEmpty).toBe(true);
      expect(taken.flat()).toEqual(added);
      for (const envelopes of taken) {
        expect(envelopes.length).toBeGreaterThan(0);
        if (envelopes.length > 1) expect(encodeSegment(envelopes).length).toBeLessThanOrEqual(maxBytes);
      }
    }),
    { seed: 47, numRuns: 200 },
  );
});

test('a segment is sealed by the envelope that does not fit, so that full ones can be told from the open one', () => {
  const packer = new SegmentPacker(700);
  for (let number = 1; number <= 5; number += 1) packer.add({ envelope: envelopeOf(number, rowEntry('k')) });
  expect(packer.sealedSegments).toBeGreaterThan(0);
  expect(packer.take(packer.sealedSegments).flat().length).toBeLessThan(5);
  expect(packer.isEmpty).toBe(false);
});
