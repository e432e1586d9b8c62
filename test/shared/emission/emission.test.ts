import { expect, test } from 'vitest';
import { EmissionError, type RefusedMessage } from '../../../shared/emission/failure.ts';
import { emitAll, numbered, OUT, startEmission } from '../../support/emission-harness.ts';
import { status } from '../../support/fake-topic.ts';

const { signal } = new AbortController();
const text = (value: string, orderingKey?: string) => ({
  data: Buffer.from(value),
  attributes: {},
  ...(orderingKey !== undefined && { orderingKey }),
});

test('a message leaves at once, and the position of its unit moves when it is confirmed', async () => {
  const { clock, topic, open } = startEmission();
  const unit = open({ attributes: { run: 'r' } });
  emitAll(unit, ['m1']);
  await clock.advance(0);
  expect([topic.attempts.length, unit.takeCommittable(), unit.isIdle]).toEqual([1, undefined, false]);
  await clock.advance(1);
  expect([unit.takeCommittable(), unit.isIdle, unit.isConfirmed]).toEqual([1, true, true]);
  expect(topic.published).toEqual([{ text: 'm1', key: '', attributes: { run: 'r' } }]);
  expect(clock.pending).toBe(0);
});

test('the position waits for every message before it, and what needs no publishing waits behind them', async () => {
  const { clock, topic, open } = startEmission();
  topic.next({ kind: 'confirm', delayMillis: 100 }, { kind: 'confirm', delayMillis: 10 });
  const unit = open();
  emitAll(unit, ['m1'], 'a');
  emitAll(unit, ['m2'], 'b');
  unit.pass(3);
  await clock.advance(50);
  expect([topic.texts, unit.takeCommittable()]).toEqual([['m2'], undefined]);
  await clock.advance(50);
  expect(unit.takeCommittable()).toBe(3);
});

test('a message that meets transient failures is sent again until it is confirmed', async () => {
  const { clock, topic, runtime, open } = startEmission();
  topic.next(
    ...(['UNAVAILABLE', 'ABORTED', 'INTERNAL', 'UNKNOWN', 'CANCELLED'] as const).map(
      (code) => ({ kind: 'refuse', status: status(code) }) as const,
    ),
    { kind: 'silence' },
    { kind: 'lose-answer', status: status('UNAVAILABLE') },
  );
  const unit = open();
  emitAll(unit, ['m1'], 'k');
  await clock.advance(60_000);
  expect([topic.attempts.length, topic.texts, unit.takeCommittable()]).toEqual([8, ['m1', 'm1'], 1]);
  const { counters, distributions } = runtime.metrics.snapshot();
  expect(counters).toMatchObject({ publishRetries: 7, messagesPublished: 1 });
  expect(distributions.publishLatency?.count).toBe(8);
});

test('a topic that is unavailable for long fails nothing: the messages wait, and are confirmed when it is back', async () => {
  const { clock, topic, emission, open } = startEmission();
  topic.decide = ({ at }) => (at < start + 600_000 ? { kind: 'refuse', status: status('UNAVAILABLE') } : undefined);
  const start = clock.now();
  const unit = open();
  emitAll(unit, numbered('m', 10));
  await clock.advance(300_000);
  expect([unit.failure, emission.problem?.status.code]).toEqual([undefined, 'UNAVAILABLE']);
  await clock.advance(310_000);
  expect([unit.takeCommittable(), emission.problem]).toEqual([10, undefined]);
});

test('no attempt begins that would not end 2 s before the lease does; a renewal lets it go', async () => {
  const { clock, topic, lease, open } = startEmission();
  lease.remainingMillis = 11_999;
  const unit = open();
  emitAll(unit, ['m1']);
  await clock.advance(5_000);
  expect(topic.attempts).toEqual([]);
  lease.remainingMillis = 12_000;
  await clock.advance(1_000);
  expect([topic.texts, unit.takeCommittable()]).toEqual([['m1'], 1]);
});

test('a retry too asks how long the lease lasts', async () => {
  const { clock, topic, lease, open } = startEmission();
  topic.next({ kind: 'silence' });
  lease.remainingMillis = 12_000;
  const unit = open();
  emitAll(unit, ['m1'], 'k');
  await clock.advance(1);
  lease.remainingMillis = 0;
  await clock.advance(60_000);
  expect([topic.attempts.length, unit.isIdle]).toEqual([1, false]);
});

test('at the end of the slot what is on its way is cancelled, what waits is not sent, and every unit has ended', async () => {
  const { clock, topic, end, open, runtime } = startEmission(1000);
  topic.decide = () => ({ kind: 'silence' });
  const unit = open();
  emitAll(unit, ['m1', 'm2'], 'k');
  await clock.advance(5);
  const waiting = unit.emit(text('m3'));
  const settled = unit.settled(signal);
  end.abort(new Error('SIGTERM'));
  await expect(waiting).rejects.toThrow('the slot ended: SIGTERM');
  await clock.advance(0);
  await settled;
  expect(unit.failure).toMatchObject({ kind: 'ended' });
  expect([topic.attempts.length, topic.outstanding, unit.takeCommittable()]).toEqual([1, 0, undefined]);
  expect(runtime.metrics.snapshot().gauges.emissionWindowBytes).toBe(0);
  await clock.advance(60_000);
  expect([topic.attempts.length, clock.pending]).toEqual([1, 0]);
  await expect(unit.emit(text('m4'))).rejects.toThrow('the slot ended');
});

test('a unit that is opened after the end of the slot emits nothing', async () => {
  const { end, open } = startEmission();
  end.abort();
  await expect(open().emit(text('m1'))).rejects.toBeInstanceOf(EmissionError);
});

test('one message that is refused alone fails its unit: those before it count, those behind it of its key never leave', async () => {
  const { clock, topic, open } = startEmission();
  const unit = open();
  emitAll(unit, [...numbered('m', 40), 'bad41', ...numbered('m', 59, 42)], 'k');
  await clock.advance(1000);
  expect(topic.texts).toEqual(numbered('m', 40));
  expect(unit.failure).toMatchObject({ kind: 'refused', status: { code: 'INVALID_ARGUMENT' } });
  expect([unit.takeCommittable(), unit.isIdle, unit.failed.aborted]).toEqual([40, true, true]);
  expect(topic.attempts.length).toBeLessThan(25);
});

test('messages of another key that wait behind a refused one are dropped with it, and those of other units go on', async () => {
  const { clock, topic, open } = startEmission();
  const [failing, other] = [open(), open()];
  topic.next({ kind: 'confirm', delayMillis: 5 }, { kind: 'refuse', delayMillis: 10, status: status('UNAVAILABLE') });
  emitAll(failing, ['bad1'], 'a');
  emitAll(other, ['o1'], 'b');
  emitAll(failing, ['m2'], 'b');
  emitAll(other, ['o2'], 'b');
  await clock.advance(1000);
  topic.next();
  expect(failing.failure).toMatchObject({ kind: 'refused' });
  expect([topic.texts, failing.isIdle, other.takeCommittable()]).toEqual([['o1', 'o2'], true, 2]);
});

test('under dead-letter a refused message is set apart, nothing of its key leaves before that is confirmed, and the position passes it', async () => {
  const { clock, topic, open } = startEmission();
  const letters: RefusedMessage[] = [];
  const confirmed = Promise.withResolvers<undefined>();
  const unit = open({
    attributes: { run: 'r' },
    failurePolicy: 'dead-letter',
    setApart: async (refused) => {
      letters.push(refused);
      await confirmed.promise;
    },
  });
  emitAll(unit, ['m1', 'bad2', 'm3'], 'k');
  emitAll(unit, ['m4'], 'other');
  await clock.advance(1000);
  expect(letters).toMatchObject([
    { message: { data: Buffer.from('bad2'), attributes: { run: 'r' } }, status: { code: 'INVALID_ARGUMENT' } },
  ]);
  expect([topic.texts.toSorted(), unit.takeCommittable()]).toEqual([['m1', 'm4'], 1]);
  confirmed.resolve(undefined);
  await clock.advance(1000);
  expect([topic.texts.at(-1), unit.takeCommittable(), unit.failure]).toEqual(['m3', 4, undefined]);
});

test('a refused message that cannot be set apart fails its unit, and is never passed', async () => {
  const { clock, open } = startEmission();
  const unit = open({ failurePolicy: 'dead-letter', setApart: () => Promise.reject(new Error('no letters')) });
  emitAll(unit, ['m1', 'bad2', 'm3'], 'k');
  await clock.advance(1000);
  expect(unit.failure).toMatchObject({ kind: 'unhandled', message: expect.stringContaining('no letters') as string });
  expect(unit.takeCommittable()).toBe(1);
});

test('every message of a topic may be refused: each is set apart once, for about a request each', async () => {
  const { clock, topic, open } = startEmission();
  const letters: string[] = [];
  const setApart = ({ message }: RefusedMessage): Promise<void> => {
    letters.push(message.data.toString());
    return Promise.resolve();
  };
  const unit = open({ failurePolicy: 'dead-letter', setApart });
  emitAll(unit, numbered('bad', 200), 'k');
  await clock.advance(1000);
  expect([letters, unit.takeCommittable()]).toEqual([numbered('bad', 200), 200]);
  expect(topic.attempts.length).toBeLessThan(220);
});

test('one refused message among a thousand is found in a few requests, and the others leave together again', async () => {
  const { clock, topic, open } = startEmission();
  const unit = open({ failurePolicy: 'dead-letter', setApart: () => Promise.resolve() });
  emitAll(unit, [...numbered('m', 300), 'bad301', ...numbered('m', 699, 302)], 'k');
  await clock.advance(1000);
  expect([topic.published.length, unit.takeCommittable()]).toEqual([999, 1000]);
  expect(topic.attempts.length).toBeLessThan(40);
});

test('messages that gathered behind a request do not leave when an earlier one of their unit fails meanwhile', async () => {
  const { clock, topic, open } = startEmission();
  topic.decide = ({ key }) => ({ kind: 'confirm', delayMillis: key === 'slow' ? 100 : 1 });
  const unit = open();
  emitAll(unit, ['m1'], 'slow');
  await clock.advance(10);
  topic.decide = ({ texts }) =>
    texts.includes('m2') ? { kind: 'refuse', status: status('INVALID_ARGUMENT') } : undefined;
  emitAll(unit, ['m2'], 'other');
  emitAll(unit, ['m3', 'm4'], 'slow');
  await clock.advance(10);
  expect([unit.failure?.kind, unit.isIdle]).toEqual(['refused', false]);
  await clock.advance(1000);
  expect([topic.texts, unit.isIdle, unit.takeCommittable()]).toEqual([['m1'], true, 1]);
});

test('closing ends every unit: nothing that waits leaves any more', async () => {
  const { clock, topic, emission, open } = startEmission();
  topic.decide = () => ({ kind: 'confirm', delayMillis: 100 });
  const unit = open();
  emitAll(unit, ['m1'], 'k');
  await clock.advance(10);
  emitAll(unit, ['m2'], 'k');
  emission.close();
  await expect(unit.emit(text('m3'))).rejects.toMatchObject({ kind: 'ended' });
  await clock.advance(1000);
  expect([topic.texts, unit.isIdle]).toEqual([['m1'], true]);
});

test('a message that breaks a rule of Pub/Sub is not sent: it fails its unit, or is set apart in its turn', async () => {
  const { clock, topic, open } = startEmission();
  const wrong = { data: Buffer.from('m2'), attributes: { goog: 'x' }, orderingKey: 'k' };
  const failing = open();
  emitAll(failing, ['m1'], 'k');
  await expect(failing.emit(wrong)).rejects.toThrow('"goog" is not allowed');
  await clock.advance(10);
  expect([topic.texts, failing.takeCommittable()]).toEqual([['m1'], 1]);
  const letters: string[] = [];
  const setApart = ({ problem }: RefusedMessage): Promise<void> => {
    letters.push(problem);
    return Promise.resolve();
  };
  const unit = open({ failurePolicy: 'dead-letter', setApart });
  emitAll(unit, ['m1'], 'k');
  await unit.emit(wrong);
  emitAll(unit, ['m3'], 'k');
  await clock.advance(10);
  expect([topic.texts, letters.length, unit.takeCommittable()]).toEqual([['m1', 'm1', 'm3'], 1, 3]);
});

test('a missing topic is told with the command that creates it, fails its units after a minute, and nothing when it is created before', async () => {
  const { clock, topic, emission, open } = startEmission();
  topic.decide = () => ({ kind: 'refuse', status: status('NOT_FOUND', 'no such topic') });
  const unit = open();
  emitAll(unit, numbered('m', 3));
  await clock.advance(30_000);
  expect(emission.problem?.message).toContain(`gcloud pubsub topics create ${OUT}`);
  expect(unit.failure).toBeUndefined();
  topic.decide = () => undefined;
  await clock.advance(20_000);
  expect([unit.takeCommittable(), emission.problem]).toEqual([3, undefined]);
  topic.decide = () => ({ kind: 'refuse', status: status('PERMISSION_DENIED') });
  const attempts = topic.attempts.length;
  emitAll(unit, numbered('m', 3, 4));
  await clock.advance(100_000);
  expect(unit.failure).toMatchObject({ kind: 'setup', status: { code: 'PERMISSION_DENIED' } });
  expect([unit.isIdle, topic.attempts.length - attempts < 20]).toEqual([true, true]);
});

test('a reader that cannot go on fails its unit: what it emitted before is confirmed and counts', async () => {
  const { clock, open } = startEmission();
  const unit = open();
  emitAll(unit, ['m1', 'm2']);
  unit.fail(new EmissionError('source', 'the module threw'));
  await expect(unit.emit(text('m3'))).rejects.toThrow('the module threw');
  unit.pass(3);
  await clock.advance(10);
  expect([unit.takeCommittable(), unit.isIdle]).toEqual([2, true]);
});

test('a full budget makes emit wait, until a confirmation makes room', async () => {
  const { clock, topic, open, runtime } = startEmission(1000);
  topic.next({ kind: 'confirm', delayMillis: 100 });
  const unit = open();
  emitAll(unit, ['m1', 'm2']);
  const waiting = unit.emit(text('m3'));
  let isAdmitted = false;
  const admitted = waiting?.then(() => (isAdmitted = true));
  await clock.advance(99);
  expect([isAdmitted, runtime.metrics.snapshot().gauges.emissionWindowBytes]).toEqual([false, 1032]);
  await clock.advance(1);
  expect(isAdmitted).toBe(true);
  await admitted;
  await clock.advance(1);
  expect(topic.texts).toEqual(['m1', 'm2', 'm3']);
});

test('settled waits for what is on its way, and its own signal ends the wait', async () => {
  const { clock, topic, open } = startEmission();
  topic.next({ kind: 'confirm', delayMillis: 100 });
  const unit = open();
  await unit.settled(signal);
  emitAll(unit, ['m1']);
  const impatient = new AbortController();
  const given = unit.settled(impatient.signal);
  let isSettled = false;
  const waiting = unit.settled(signal).then(() => (isSettled = true));
  impatient.abort(new Error('no time'));
  await expect(given).rejects.toThrow('no time');
  await clock.advance(99);
  expect(isSettled).toBe(false);
  await clock.advance(1);
  await waiting;
});

test('a single publish is confirmed, refused by its own rule, or given up, and its signal is a reason', async () => {
  const { clock, topic, emission } = startEmission();
  const letters = emission.publisher('projects/p/topics/letters');
  const confirmed = letters.publish(text('letter'));
  await clock.advance(10);
  await confirmed;
  await expect(letters.publish(text('x'.repeat(9_500_000)))).rejects.toThrow('too large');
  const refused = letters.publish(text('bad'));
  refused.catch(() => undefined);
  await clock.advance(10);
  await expect(refused).rejects.toMatchObject({ kind: 'refused' });
  topic.decide = () => ({ kind: 'refuse', status: status('UNAVAILABLE') });
  const controller = new AbortController();
  const given = letters.publish(text('late'), controller.signal);
  await clock.advance(1000);
  controller.abort(new Error('no time'));
  await expect(given).rejects.toThrow('no time');
  const attempts = topic.attempts.length;
  await clock.advance(60_000);
  expect([topic.attempts.length, clock.pending]).toEqual([attempts, 0]);
});
