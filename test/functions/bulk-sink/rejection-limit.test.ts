import { expect, test } from 'vitest';
import { type Answer, startSink } from '../../support/sink-harness.ts';
import { SteppedClock } from '../../support/stepped-clock.ts';
import { badEntry, goodEntry } from '../../support/test-entry.ts';

const COOLDOWN_MILLIS = 30_000;

/** A sink that stops acknowledging after three rejections in a row, and its clock. */
async function startLimited() {
  const clock = new SteppedClock();
  const sink = await startSink({
    clock,
    deadLetters: 'topic',
    pipeline: { writerOptions: { maxConsecutiveRejections: 3, rejectionCooldown: `${COOLDOWN_MILLIS}ms` } },
  });
  return { clock, sink };
}

const statusOf = async (answer: Promise<Answer>): Promise<number> => (await answer).status;

test('at maxConsecutiveRejections the instance stops, probes with one message at a time, and resumes when one is applied', async () => {
  const { clock, sink: started } = await startLimited();
  await using sink = started;
  const pushBad = (): Promise<number> => statusOf(sink.push({ data: badEntry('bad') }));
  const pushGood = (): Promise<number> => statusOf(sink.push({ data: goodEntry('good') }));

  expect([await pushBad(), await pushBad()]).toEqual([204, 204]);
  expect(await pushBad()).toBe(429);
  expect(await sink.letters()).toHaveLength(2);
  expect(sink.count('rejectionLimitTrips')).toBe(1);

  const sent = sink.requests.length;
  expect([await pushGood(), await pushBad()]).toEqual([429, 429]);
  await clock.advance(COOLDOWN_MILLIS - 1);
  expect(await pushGood()).toBe(429);
  expect(sink.requests).toHaveLength(sent);

  // The first probe is bad: it is dealt with, and another cool-down begins.
  await clock.advance(1);
  expect(await pushBad()).toBe(204);
  expect(await sink.letters()).toHaveLength(1);
  expect(await pushGood()).toBe(429);

  await clock.advance(COOLDOWN_MILLIS);
  expect([await pushGood(), await pushGood(), await pushBad()]).toEqual([204, 204, 204]);
});

test('while a probe is under way every other message is refused', async () => {
  const { clock, sink: started } = await startLimited();
  await using sink = started;
  for (let index = 0; index < 3; index += 1) await sink.push({ data: badEntry('bad') });
  await clock.advance(COOLDOWN_MILLIS);
  sink.bigtable.faults.stall();
  const probe = sink.push({ data: goodEntry('probe') });
  await expect.poll(() => sink.bigtable.requestCounts().MutateRows).toBe(4);
  const others = await Promise.all([1, 2, 3].map((id) => statusOf(sink.push({ data: goodEntry(`other-${id}`) }))));
  expect(others).toEqual([429, 429, 429]);
  sink.bigtable.faults.resume();
  expect(await statusOf(probe)).toBe(204);
  expect((await sink.rows()).map(({ key }) => key)).toEqual(['probe']);
});

test('an applied entry between rejections starts the count over', async () => {
  const { sink: started } = await startLimited();
  await using sink = started;
  for (const data of [badEntry('b'), badEntry('b'), goodEntry('g'), badEntry('b'), badEntry('b')]) {
    expect(await statusOf(sink.push({ data }))).toBe(204);
  }
  expect(sink.count('rejectionLimitTrips')).toBe(0);
});

test('records that the serializer refuses do not count', async () => {
  const { sink: started } = await startLimited();
  await using sink = started;
  for (let index = 0; index < 5; index += 1) expect(await statusOf(sink.push({ data: '{' }))).toBe(204);
  expect(await sink.letters()).toHaveLength(5);
});
