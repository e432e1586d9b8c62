import { expect, test } from 'vitest';
import type { RefusedMessage } from '../../../shared/emission/failure.ts';
import { emitAll, numbered, startEmission } from '../../support/emission-harness.ts';

const text = (value: string, orderingKey?: string) => ({
  data: Buffer.from(value),
  attributes: { 'row-key': 'left out' },
  ...(orderingKey !== undefined && { orderingKey }),
});

test('records are packed into messages of lines with the number of records, and a position waits for its whole message', async () => {
  const { clock, topic, open } = startEmission();
  const unit = open({ maxRecordsPerMessage: 3, attributes: { run: 'r' } });
  emitAll(unit, numbered('m', 5));
  await clock.advance(10);
  expect(topic.published).toEqual([{ text: 'm1\nm2\nm3\n', key: '', attributes: { run: 'r', records: '3' } }]);
  expect(unit.takeCommittable()).toBe(3);
  await clock.advance(10);
  expect([topic.texts.at(-1), unit.takeCommittable()]).toEqual(['m4\nm5\n', 5]);
});

test('records of different ordering keys are packed apart, and the position is behind all of them', async () => {
  const { clock, topic, open } = startEmission();
  const unit = open({ maxRecordsPerMessage: 2 });
  emitAll(unit, ['m1'], 'a');
  emitAll(unit, ['m2', 'm3'], 'b');
  await clock.advance(10);
  expect([topic.texts, unit.takeCommittable()]).toEqual([['m2\nm3\n'], undefined]);
  await clock.advance(10);
  expect([topic.texts.at(-1), topic.published.at(-1)?.key, unit.takeCommittable()]).toEqual(['m1\n', 'a', 3]);
});

test('a record that does not fit beside the others begins a new message; no message exceeds the limit', async () => {
  const { clock, topic, open } = startEmission();
  const unit = open({ maxRecordsPerMessage: 100 });
  for (let index = 1; index <= 5; index += 1) {
    await unit.emit(text('x'.repeat(4_000_000)));
    unit.pass(index);
  }
  unit.flush();
  await clock.advance(10);
  expect(topic.published.map(({ attributes }) => attributes.records)).toEqual(['2', '2', '1']);
  expect(Math.max(...topic.attempts.map(({ bytes }) => bytes))).toBeLessThan(9_500_000);
  expect(unit.takeCommittable()).toBe(5);
});

test('a budget that is full of what waits to be packed with more lets it leave', async () => {
  const { clock, topic, open } = startEmission(55);
  const unit = open({ maxRecordsPerMessage: 1000 });
  emitAll(unit, numbered('m', 16));
  const waiting = unit.emit(text('m17'));
  await clock.advance(10);
  await waiting;
  expect([topic.published.map(({ attributes }) => attributes.records), unit.isIdle]).toEqual([['16'], false]);
});

test('what waits to be packed when the unit fails leaves if it comes before the failure, and never if behind it', async () => {
  const { clock, topic, open } = startEmission();
  const unit = open({ maxRecordsPerMessage: 2 });
  emitAll(unit, ['m1'], 'a');
  emitAll(unit, ['bad2', 'bad3'], 'b');
  emitAll(unit, ['m4'], 'c');
  await clock.advance(10);
  expect([topic.texts, unit.failure?.kind, unit.isIdle]).toEqual([['m1\n'], 'refused', true]);
  expect(unit.takeCommittable()).toBe(1);
});

test('a record with a line end cannot be packed, and follows the failure policy in its turn', async () => {
  const { clock, topic, open } = startEmission();
  await expect(open({ maxRecordsPerMessage: 2 }).emit(text('a\nb'))).rejects.toThrow('line end');
  const letters: RefusedMessage[] = [];
  const setApart = (refused: RefusedMessage): Promise<void> => {
    letters.push(refused);
    return Promise.resolve();
  };
  const unit = open({ maxRecordsPerMessage: 10, failurePolicy: 'dead-letter', setApart });
  emitAll(unit, ['m1'], 'k');
  await unit.emit(text('a\nb', 'k'));
  emitAll(unit, ['m2'], 'k');
  unit.flush();
  await clock.advance(10);
  expect([topic.texts, letters[0]?.message.data.toString(), unit.takeCommittable()]).toEqual([
    ['m1\n', 'm2\n'],
    'a\nb',
    2,
  ]);
});

const LARGE = 20_000_000;

test('a message that is too large fails its unit by default, and says which option decides', async () => {
  const { open } = startEmission();
  const unit = open();
  await expect(unit.emit(text('x'.repeat(LARGE)))).rejects.toThrow('see oversizedMessage');
  expect(unit.failure?.kind).toBe('oversized');
});

test('a message that is too large is quarantined whole, in its turn', async () => {
  const { clock, topic, open } = startEmission();
  const sizes: number[] = [];
  const setApart = ({ message }: RefusedMessage): Promise<void> => {
    sizes.push(message.data.length);
    return Promise.resolve();
  };
  const unit = open({ oversizedMessage: 'quarantine', setApart });
  await unit.emit(text('x'.repeat(LARGE), 'k'));
  emitAll(unit, ['m2'], 'k');
  await clock.advance(10);
  expect([sizes, topic.texts, unit.takeCommittable()]).toEqual([[LARGE], ['m2'], 2]);
});

test('a message that is too large leaves in parts, in order and between its neighbours, and its position waits for the last', async () => {
  const { clock, topic, open } = startEmission();
  const unit = open({ oversizedMessage: 'parts', maxRecordsPerMessage: 10 });
  emitAll(unit, ['m1'], 'k');
  await unit.emit(text('x'.repeat(LARGE), 'k'));
  unit.pass(2);
  emitAll(unit, ['m3'], 'k');
  expect(unit.takeCommittable()).toBeUndefined();
  await clock.advance(10);
  expect(topic.published.map(({ attributes }) => attributes.part)).toEqual([undefined, '1', '2', '3', undefined]);
  expect(topic.published.reduce((sum, each) => sum + each.text.length, 0)).toBe(LARGE + 6);
  expect(topic.published.every(({ key }) => key === 'k')).toBe(true);
  expect(unit.takeCommittable()).toBe(3);
});

const LARGE_PIECES = { pieces: () => [Buffer.alloc(LARGE / 2, 'x'), Buffer.alloc(LARGE / 2, 'y')] };

test('a message in pieces leaves in the parts of the same message as a whole, in order and between its neighbours', async () => {
  const { clock, topic, open } = startEmission();
  const unit = open({ oversizedMessage: 'parts', maxRecordsPerMessage: 10 });
  emitAll(unit, ['m1'], 'k');
  await unit.emitLarge({ data: LARGE_PIECES, attributes: {}, orderingKey: 'k' });
  unit.pass(2);
  emitAll(unit, ['m3'], 'k');
  unit.flush();
  await clock.advance(10);
  const whole = 'x'.repeat(LARGE / 2) + 'y'.repeat(LARGE / 2);
  expect(topic.texts.join('') === `m1\n${whole}m3\n`).toBe(true);
  expect(topic.published.map(({ attributes }) => attributes.part)).toEqual([undefined, '1', '2', '3', undefined]);
  expect(unit.takeCommittable()).toBe(3);
});

test('a message in pieces fails its unit by default, and is quarantined where the option says so', async () => {
  const { clock, open } = startEmission();
  const large = { data: LARGE_PIECES, attributes: {} };
  await expect(open().emitLarge(large)).rejects.toThrow('see oversizedMessage');
  const sizes: number[] = [];
  const setApart = ({ message }: RefusedMessage): Promise<void> =>
    Promise.resolve(void sizes.push(message.data.length));
  await open({ oversizedMessage: 'quarantine', setApart }).emitLarge(large);
  await clock.advance(10);
  expect(sizes).toEqual([LARGE]);
});

test('parts wait for room one by one', async () => {
  const { clock, topic, open } = startEmission(1000);
  topic.next({ kind: 'confirm', delayMillis: 100 });
  const unit = open({ oversizedMessage: 'parts' });
  const waiting = unit.emit(text('x'.repeat(LARGE), 'k'));
  await clock.advance(99);
  expect(topic.attempts.length).toBe(1);
  await clock.advance(10);
  await waiting;
  expect(topic.published.length).toBe(3);
});
