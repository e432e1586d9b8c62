import { expect, test } from 'vitest';
import { abortable } from '../../../shared/base/abortable.ts';

test('passes the promise on while the signal does not abort', async () => {
  const { signal } = new AbortController();
  await expect(abortable(Promise.resolve(7), signal)).resolves.toBe(7);
  await expect(abortable(Promise.reject(new Error('own')), signal)).rejects.toThrow('own');
});

test('ends the wait with the reason when the signal aborts, and leaves the promise to others', async () => {
  const controller = new AbortController();
  const shared = Promise.withResolvers<string>();
  const wait = abortable(shared.promise, controller.signal);
  controller.abort(new Error('no time left'));
  await expect(wait).rejects.toThrow('no time left');
  shared.resolve('late');
  await expect(shared.promise).resolves.toBe('late');
});

test('does not wait when the signal has aborted, not even for what is there', async () => {
  const aborted = AbortSignal.abort(new Error('gone'));
  await expect(abortable(Promise.resolve(7), aborted)).rejects.toThrow('gone');
  // A rejection that nobody handles would fail this test.
  await expect(abortable(Promise.reject(new Error('own')), aborted)).rejects.toThrow('gone');
});
