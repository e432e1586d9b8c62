import { expect, test } from 'vitest';
import { BufferPool } from '../../../../shared/google/grpc/buffers.ts';

test('a buffer is a power of two of at least 4 KiB and at least as long as was asked for', () => {
  const pool = new BufferPool();
  const lengths = [0, 1, 4095, 4096, 4097, 70_000].map((size) => pool.take(size).length);
  expect(lengths).toEqual([4096, 4096, 4096, 4096, 8192, 131_072]);
});

test('a buffer that was given back is taken again by what it is large enough for', () => {
  const pool = new BufferPool();
  const buffer = pool.take(5000);
  pool.give(buffer);
  expect(pool.take(8193)).not.toBe(buffer);
  expect(pool.take(8192)).toBe(buffer);
  expect(pool.take(8192)).not.toBe(buffer);
});

test('two callers never hold the same buffer', () => {
  const pool = new BufferPool();
  for (const buffer of [pool.take(1), pool.take(1), pool.take(1)]) pool.give(buffer);
  const held = Array.from({ length: 6 }, () => pool.take(1));
  expect(new Set(held).size).toBe(6);
});

test('no more buffers are kept than the bound, and none above the size', () => {
  const pool = new BufferPool(2, 8192);
  const buffers: Buffer[] = [4096, 4096, 4096].map((size) => Buffer.alloc(size));
  const large = Buffer.alloc(8193);
  for (const buffer of [...buffers, large]) pool.give(buffer);
  const taken = Array.from({ length: 4 }, () => pool.take(4096));
  expect(taken.filter((buffer) => buffers.includes(buffer))).toHaveLength(2);
  expect(taken).not.toContain(large);
});

test('a full pool grows into the sizes that are used: a larger buffer takes the place of the smallest', () => {
  const pool = new BufferPool(2);
  const [small, middle, large, smallest] = [
    Buffer.alloc(8192),
    Buffer.alloc(16_384),
    Buffer.alloc(32_768),
    Buffer.alloc(4096),
  ];
  for (const buffer of [small, middle, large, smallest]) pool.give(buffer);
  expect(pool.take(20_000)).toBe(large);
  expect(pool.take(10_000)).toBe(middle);
  expect([small, smallest]).not.toContain(pool.take(1));
});
