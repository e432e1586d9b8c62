import { expect, test } from 'vitest';
import { Asking } from '../../../../shared/change-stream/coordination/asking.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const { signal } = new AbortController();

test('a question that takes long is asked once, and a later look has its answer', async () => {
  const clock = new ManualClock();
  const answer = Promise.withResolvers<number>();
  let asked = 0;
  const asking = new Asking(() => ((asked += 1), answer.promise), clock);
  const first = asking.read(signal);
  await clock.advance(3_000);
  expect(await first).toEqual({ kind: 'asking' });
  answer.resolve(7);
  expect(await asking.read(signal)).toEqual({ kind: 'told', value: 7 });
  expect(asked).toBe(1);
  expect(clock.pending).toBe(0);
});

test('an answer is told once, and then the question is asked anew', async () => {
  let asked = 0;
  const asking = new Asking(() => Promise.resolve((asked += 1)), new ManualClock());
  expect(await asking.read(signal)).toEqual({ kind: 'told', value: 1 });
  expect(await asking.read(signal)).toEqual({ kind: 'told', value: 2 });
});

test('a failure is told, and what it was asked with ends with the invocation', async () => {
  const asking = new Asking(
    (until) =>
      new Promise((_, reject) => {
        until.addEventListener('abort', () => {
          reject(new Error('over'));
        });
      }),
    new ManualClock(),
  );
  const read = asking.read(signal);
  asking.end();
  expect(await read).toMatchObject({ kind: 'failed', error: { message: 'over' } });
});
