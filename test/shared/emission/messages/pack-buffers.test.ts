import { expect, test } from 'vitest';
import { Pack } from '../../../../shared/emission/messages/pack.ts';
import { PackBuffers } from '../../../../shared/emission/messages/pack-buffers.ts';

const fill = (buffers: PackBuffers, record: string, records: number) => {
  const pack = new Pack(undefined, buffers);
  for (let count = 0; count < records; count += 1) pack.add(Buffer.from(record));
  return pack.close();
};

test('what a message holds is not written over before the message has ended, and is used again after it', () => {
  const buffers = new PackBuffers();
  fill(buffers, 'x'.repeat(99), 100);
  const first = fill(buffers, 'a'.repeat(99), 100);
  const second = fill(buffers, 'b'.repeat(99), 100);
  expect(first.message.data.toString()).toBe(`${'a'.repeat(99)}\n`.repeat(100));
  expect(second.message.data.buffer).not.toBe(first.message.data.buffer);
  first.release?.();
  const third = fill(buffers, 'c'.repeat(99), 100);
  expect(third.message.data.buffer).toBe(first.message.data.buffer);
  expect(second.message.data.toString()).toBe(`${'b'.repeat(99)}\n`.repeat(100));
  expect(third.message.data.toString()).toBe(`${'c'.repeat(99)}\n`.repeat(100));
});

test('a message takes no more memory than a quarter above its bytes', () => {
  const buffers = new PackBuffers();
  fill(buffers, 'x'.repeat(999), 1000);
  for (const records of [1, 10, 790, 900, 1000]) {
    const { data } = fill(buffers, 'y'.repeat(999), records).message;
    expect(data.length).toBe(records * 1000);
    // A short one may be a slice of the pool that all short buffers share.
    if (records > 10) expect(data.buffer.byteLength).toBeLessThanOrEqual(data.length * 1.25);
  }
});

test('many packs that are open together begin small, whatever those before them became', () => {
  const buffers = new PackBuffers();
  fill(buffers, 'x'.repeat(999), 4000);
  const taken = Array.from({ length: 1000 }, () => buffers.take().length);
  expect(taken.reduce((sum, length) => sum + length)).toBeLessThan(8 * 1024 * 1024);
});

test('packs that were given up count as open no more', () => {
  const buffers = new PackBuffers();
  fill(buffers, 'x'.repeat(999), 1000);
  for (let given = 0; given < 1000; given += 1) new Pack(undefined, buffers).drop();
  expect(buffers.take().length).toBeGreaterThan(1_000_000);
});

test('no more is kept for later packs than 16 MiB', () => {
  const buffers = new PackBuffers();
  const mebibyte = 1024 * 1024;
  buffers.closed(mebibyte / 1.1, 0);
  for (let given = 0; given < 32; given += 1) buffers.give(Buffer.alloc(mebibyte, 1));
  const kept = Array.from({ length: 32 }, () => {
    const buffer = buffers.take();
    buffers.closed(mebibyte / 1.1, buffer.length);
    return buffer;
  }).filter((buffer) => buffer[7] === 1);
  expect(kept).toHaveLength(16);
});
