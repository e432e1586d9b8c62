import { expect, test } from 'vitest';
import { onAbort } from '../../../shared/base/on-abort.ts';

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
