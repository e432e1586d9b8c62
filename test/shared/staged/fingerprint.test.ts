import { describe, expect, test } from 'vitest';
import { codeOf, fingerprintOf, isSame, mustHold, takenOver } from '../../../shared/staged/fingerprint.ts';
import { TickWorld } from '../../support/tick-world.ts';

const base = { markerFamily: 'markers', framing: 'single', subscription: 'projects/p/subscriptions/s' };
const before = fingerprintOf(base);

describe('what identities hang on', () => {
  test.each([
    ['the marker family', { markerFamily: 'markers2' }],
    ['an id attribute that is set', { idAttribute: 'id' }],
    ['the subscription, without an id attribute', { subscription: 'projects/p/subscriptions/other' }],
  ])('is %s', (_what, change) => {
    const own = fingerprintOf({ ...base, ...change });
    expect(isSame(before, own)).toBe(false);
    expect(() => {
      mustHold(before, { own });
    }).toThrow(`and set confirmChange: ${codeOf(own)}`);
  });

  test('is the framing with an id attribute, and not without one', () => {
    const withId = fingerprintOf({ ...base, idAttribute: 'id' });
    expect(isSame(withId, fingerprintOf({ ...base, idAttribute: 'id', framing: 'ndjson' }))).toBe(false);
    expect(isSame(before, fingerprintOf({ ...base, framing: 'ndjson' }))).toBe(true);
  });

  test('is not the subscription where an id attribute names messages', () => {
    const withId = fingerprintOf({ ...base, idAttribute: 'id' });
    expect(isSame(withId, fingerprintOf({ ...base, idAttribute: 'id', subscription: 'other' }))).toBe(true);
  });
});

test('what has changed is named with both values, and the reason is counted apart', () => {
  const own = fingerprintOf({ ...base, markerFamily: 'markers2' });
  expect(() => takenOver(before, { own })).toThrow(
    expect.objectContaining({
      reason: 'changed',
      message: expect.stringContaining('markerFamily from "markers" to "markers2"') as string,
    }),
  );
});

test('the code is of the values, and not of their order', () => {
  expect(codeOf({ a: '1', b: '2' })).toBe(codeOf({ b: '2', a: '1' }));
  expect(codeOf(before)).toMatch(/^[0-9a-f]{12}$/);
});

test('a pipeline without a document takes the values of its first coordinator', () => {
  expect(takenOver(undefined, { own: before })).toEqual(before);
});

describe('a change', () => {
  const own = fingerprintOf({ ...base, markerFamily: 'markers2' });
  const confirmed = { own, confirmed: codeOf(own) };

  test('that is not confirmed ends every tick of its coordinator, and completes nothing', async () => {
    const world = new TickWorld();
    await world.stage(1);
    await world.coordinator({ fingerprint: { own: before } }).release(world.signal);
    const first = world.coordinator({ fingerprint: { own: before } });
    await first.tick(world.signal);
    await first.release(world.signal);
    await world.stage(1);
    await world.clock.advance(10_000);
    await expect(world.coordinator({ fingerprint: { own } }).tick(world.signal)).rejects.toThrow(/markers2/);
    expect(world.store.pipeline).toMatchObject({ completed: 1, fingerprint: before });
  });

  test('that is confirmed holds once a coordinator has run with it, and until then no stager goes by it', async () => {
    const world = new TickWorld();
    await world.stage(1);
    const first = world.coordinator({ fingerprint: { own: before } });
    await first.tick(world.signal);
    await first.release(world.signal);
    expect(() => {
      mustHold(world.store.pipeline?.fingerprint, confirmed);
    }).toThrow('holds once coordinate has run with it');
    await world.clock.advance(10_000);
    await world.coordinator({ fingerprint: confirmed }).tick(world.signal);
    expect(world.store.pipeline?.fingerprint).toEqual(own);
    mustHold(world.store.pipeline?.fingerprint, confirmed);
    // The revision of before works no more, confirmed or not.
    expect(() => {
      mustHold(world.store.pipeline?.fingerprint, { own: before });
    }).toThrow(/from "markers2" to "markers"/);
  });

  test('whose code is confirmed for other values is refused', () => {
    expect(() => takenOver(before, { own, confirmed: codeOf(before) })).toThrow(/markers2/);
  });
});
