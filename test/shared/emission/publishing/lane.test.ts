import { expect, test } from 'vitest';
import { attributeFields, messageSize, readMessage } from '../../../../shared/emission/messages/wire-message.ts';
import { Outbound, type Owner } from '../../../../shared/emission/outbound.ts';
import { Lane } from '../../../../shared/emission/publishing/lane.ts';
import { SlabPool } from '../../../../shared/emission/publishing/slab.ts';

const owner: Owner = {
  lastSequence: Infinity,
  confirmed: () => undefined,
  failed: () => undefined,
  refused: () => Promise.resolve(),
};
const NOTHING = attributeFields({});

function add(lane: Lane, text: string): Outbound {
  const message = { data: Buffer.from(text), attributes: { a: '1' }, orderingKey: 'k' };
  const outbound = new Outbound(owner, 1, 0);
  outbound.bytes = messageSize(message, NOTHING);
  lane.add(outbound, message, NOTHING);
  return outbound;
}

test('messages of a lane lie behind each other, and each is read as it was given', () => {
  const lane = new Lane('k', new SlabPool());
  const texts = Array.from({ length: 200 }, (_, index) => String(index).padEnd(index * 7, '.'));
  const added = texts.map((text) => add(lane, text));
  expect(added.map((each) => readMessage(each).data.toString())).toEqual(texts);
  const slabs = new Set(added.map(({ slab }) => slab));
  expect(slabs.size).toBeLessThan(15);
  for (const [index, { slab, start }] of added.entries()) {
    const before = added[index - 1];
    if (before?.slab === slab) expect(start).toBe(before.end);
  }
});

test('a key that comes once costs its message and no slab', () => {
  const { slab, end } = add(new Lane('k', new SlabPool()), 'x'.repeat(100));
  expect(slab.buffer.length).toBe(end);
});

test('large data stays where it is', () => {
  const lane = new Lane('k', new SlabPool());
  const data = Buffer.alloc(5000, 1);
  const outbound = new Outbound(owner, 1, 0);
  const message = { data, attributes: {} };
  outbound.bytes = messageSize(message, NOTHING);
  lane.add(outbound, message, NOTHING);
  expect([outbound.data, outbound.end - outbound.start < 20, readMessage(outbound).data]).toEqual([data, true, data]);
});

test('a slab is used again when all of its messages have ended and nothing more is written in it, and not before', () => {
  const slabs = new SlabPool();
  const lane = new Lane('k', slabs);
  add(lane, 'the first, in a slab of its own').confirm();
  const inOne = Array.from({ length: 40 }, () => add(lane, 'x'.repeat(300)));
  const [first] = inOne as [Outbound];
  const buffer = first.slab.buffer;
  for (const each of inOne.slice(1)) each.confirm();
  // Fills what is left of the slab and begins another.
  while (add(lane, 'x'.repeat(3000)).slab.buffer === buffer);
  const taken = slabs.take(3000, false);
  expect(taken.buffer).not.toBe(buffer);
  expect(readMessage(first).data.toString()).toBe('x'.repeat(300));
});

test('what has ended twice gives its slab back once', () => {
  const slabs = new SlabPool();
  const slab = slabs.take(3000, false);
  const outbound = new Outbound(owner, 1, 0);
  slab.enter();
  outbound.slab = slab;
  outbound.confirm();
  outbound.fail(undefined);
  expect(slabs.take(3000, false).buffer).not.toBe(slab.buffer);
  slab.leave();
  expect(slabs.take(3000, false).buffer).toBe(slab.buffer);
});
