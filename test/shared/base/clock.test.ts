import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { abortReason, sleep, systemClock } from '../../../shared/base/clock.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('sleep', () => {
  test('resolves when its time has come, not before, and leaves no timer', async () => {
    const clock = new ManualClock();
    let isAwake = false;
    const sleeping = sleep(clock, 500, new AbortController().signal).then(() => {
      isAwake = true;
    });
    await clock.advance(499);
    expect(isAwake).toBe(false);
    await clock.advance(1);
    await sleeping;
    expect(clock.pending).toBe(0);
  });

  test('needs no signal', async () => {
    const clock = new ManualClock();
    let isAwake = false;
    const sleeping = sleep(clock, 500).then(() => {
      isAwake = true;
    });
    await clock.advance(499);
    expect(isAwake).toBe(false);
    await clock.advance(1);
    await sleeping;
    expect(clock.pending).toBe(0);
  });

  test('rejects with the reason as soon as the signal aborts, and leaves no timer', async () => {
    const clock = new ManualClock();
    const controller = new AbortController();
    const reason = new Error('enough');
    const sleeping = sleep(clock, 500, controller.signal);
    controller.abort(reason);
    await expect(sleeping).rejects.toBe(reason);
    expect(clock.pending).toBe(0);
  });

  test('rejects at once when the signal has aborted before, and sets no timer', async () => {
    const clock = new ManualClock();
    const reason = new Error('before');
    await expect(sleep(clock, 500, AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(clock.pending).toBe(0);
  });

  test('a signal that aborts after the sleep does nothing more', async () => {
    const clock = new ManualClock();
    const controller = new AbortController();
    const remove = vi.spyOn(controller.signal, 'removeEventListener');
    const sleeping = sleep(clock, 1, controller.signal);
    await clock.advance(1);
    await sleeping;
    expect(remove).toHaveBeenCalledOnce();
    controller.abort(new Error('late'));
    await clock.advance(1);
  });
});

test('the reason of an abort is an Error whatever was given to abort()', () => {
  const own = new Error('own');
  expect(abortReason(AbortSignal.abort(own))).toBe(own);
  expect(abortReason(AbortSignal.abort())).toBeInstanceOf(Error);
  const wrapped = abortReason(AbortSignal.abort('a text'));
  expect(wrapped).toBeInstanceOf(Error);
  expect(wrapped.cause).toBe('a text');
});

describe('the system clock', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('tells the time of the system', () => {
    vi.setSystemTime(1_700_000_000_123);
    expect(systemClock.now()).toBe(1_700_000_000_123);
  });

  test.each([
    ['just below the longest timer of Node', 2 ** 31 - 2],
    ['the longest timer of Node', 2 ** 31 - 1],
    ['just above it', 2 ** 31],
    ['thirty days', 30 * 24 * 3_600_000],
    ['sixty days', 60 * 24 * 3_600_000],
  ])('a timer of %s runs once, at its time', (_name, delayMillis) => {
    const callback = vi.fn();
    systemClock.after(delayMillis, callback);
    vi.advanceTimersByTime(delayMillis - 1);
    expect(callback).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(callback).toHaveBeenCalledOnce();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('a timer beyond the longest of Node can be cancelled in any part of it', () => {
    const callback = vi.fn();
    const cancel = systemClock.after(2 ** 32, callback);
    vi.advanceTimersByTime(2 ** 31 + 5);
    cancel();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(2 ** 33);
    expect(callback).not.toHaveBeenCalled();
  });

  test('a negative delay is none', () => {
    const callback = vi.fn();
    systemClock.after(-5, callback);
    vi.advanceTimersByTime(1);
    expect(callback).toHaveBeenCalledOnce();
  });
});

test('the timers of the system clock do not hold the process', () => {
  const timersBefore = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const cancel = systemClock.after(60_000, () => undefined);
  const timersNow = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  cancel();
  expect(timersNow).toBe(timersBefore);
});

test('soon runs after the promises that are ready', async () => {
  const order: string[] = [];
  const soon = new Promise<void>((resolve) => {
    systemClock.soon(() => {
      order.push('soon');
      resolve();
    });
  });
  const ready = Promise.resolve()
    .then(() => undefined)
    .then(() => order.push('promise'));
  await Promise.all([soon, ready]);
  expect(order).toEqual(['promise', 'soon']);
});
