import { expect, test } from 'vitest';
import { abortable, onAbort } from '../../../shared/base/abort.ts';

test('an abortable wait passes the promise on while the signal does not abort', async () => {
  const { signal } = new AbortController();
  await expect(abortable(Promise.resolve(7), signal)).resolves.toBe(7);
  await expect(abortable(Promise.reject(new Error('own')), signal)).rejects.toThrow('own');
});

test('an abortable wait ends with the reason when the signal aborts, and leaves the promise to others', async () => {
  const controller = new AbortController();
  const shared = Promise.withResolvers<string>();
  const wait = abortable(shared.promise, controller.signal);
  controller.abort(new Error('no time left'));
  await expect(wait).rejects.toThrow('no time left');
  shared.resolve('late');
  await expect(shared.promise).resolves.toBe('late');
});

test('an abortable wait does not begin when the signal has aborted, not even for what is there', async () => {
  const aborted = AbortSignal.abort(new Error('gone'));
  await expect(abortable(Promise.resolve(7), aborted)).rejects.toThrow('gone');
  // A rejection that nobody handles would fail this test.
  await expect(abortable(Promise.reject(new Error('own')), aborted)).rejects.toThrow('gone');
});

test('every callback that is not taken back is called once, in order, when the signal aborts', () => {
  const controller = new AbortController();
  const called: string[] = [];
  const note = (name: string) => (): void => {
    called.push(name);
  };
  onAbort(controller.signal, note('a'));
  const forget = onAbort(controller.signal, note('b'));
  onAbort(controller.signal, note('c'));
  forget();
  expect(called).toEqual([]);
  controller.abort();
  controller.abort();
  expect(called).toEqual(['a', 'c']);
});

test('signals do not hear of each other', () => {
  const [one, other] = [new AbortController(), new AbortController()];
  let calls = 0;
  onAbort(one.signal, () => (calls += 1));
  other.abort();
  expect(calls).toBe(0);
});
