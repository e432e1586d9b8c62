import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeMutateRows, entrySize, requestSize } from '../../../shared/google/bigtable/encode.ts';
import { EntryCounter } from './entry-counter.ts';

test('the null server counts the entries of a request however its bytes are cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 }),
      fc.constantFrom('', 'profile'),
      fc.integer({ min: 1, max: 400 }),
      (values, profile, chunkBytes) => {
        const entries = values.map((value) => {
          const entry = {
            rowKey: Buffer.from('key'),
            mutations: [
              {
                kind: 'setCell' as const,
                family: 'f',
                qualifier: Buffer.from('q'),
                timestampMicros: 1000n,
                value: Buffer.from(value),
              },
            ],
          };
          return { entry, bytes: entrySize(entry) };
        });
        const size = requestSize('table', profile, entries);
        const message = encodeMutateRows(Buffer.alloc(size), size, 'table', profile, entries);
        const framed = Buffer.concat([Buffer.alloc(5), message]);
        const counter = new EntryCounter();
        for (let at = 0; at < framed.length; at += chunkBytes) counter.feed(framed.subarray(at, at + chunkBytes));
        expect(counter.entries).toBe(entries.length);
      },
    ),
    { seed: 42 },
  );
});
