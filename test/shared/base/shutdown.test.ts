import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { type DrainOptions, installDrain } from '../../../shared/base/shutdown.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** What a drain sees of a process: events, and an exit that is noted instead of done. */
class FakeProcess extends EventEmitter {
  readonly exits: { readonly code: number; readonly at: number }[] = [];
  readonly #clock: ManualClock;

  constructor(clock: ManualClock) {
    super();
    this.#clock = clock;
  }

  exit(code: number): void {
    this.exits.push({ code, at: this.#clock.now() });
  }
}

function setUp(options: Partial<DrainOptions> = {}) {
  const clock = new ManualClock(0);
  const signals = new FakeProcess(clock);
  const calls: string[] = [];
  const drain = installDrain(signals, {
    clock,
    limitMillis: 9000,
    onDrain: () => void calls.push('drain'),
    onIdle: () => {
      calls.push('idle');
      return Promise.resolve();
    },
    ...options,
  });
  return { clock, signals, drain, calls };
}

/** A request that a test ends. */
function request() {
  const { promise, resolve } = Promise.withResolvers<string>();
  return {
    run: () => promise,
    finish: () => {
      resolve('answer');
    },
  };
}

test('an idle process drains and exits with 0 at once', async () => {
  const { clock, signals, drain, calls } = setUp();
  expect(drain.isDraining).toBe(false);
  signals.emit('SIGTERM');
  expect(drain.isDraining).toBe(true);
  await clock.advance(0);
  expect(calls).toEqual(['drain', 'idle']);
  expect(signals.exits).toEqual([{ code: 0, at: 0 }]);
});

test('requests in flight finish, and their answers get time to leave, before the process exits', async () => {
  const { clock, signals, drain, calls } = setUp();
  const [first, second] = [request(), request()];
  const answers = [drain.track(first.run), drain.track(second.run)];
  signals.emit('SIGTERM');
  expect(calls).toEqual(['drain']);
  await clock.advance(1000);
  first.finish();
  await clock.advance(1000);
  expect(signals.exits).toEqual([]);
  second.finish();
  expect(await Promise.all(answers)).toEqual(['answer', 'answer']);
  await clock.advance(1);
  expect(signals.exits).toEqual([]);
  await clock.advance(99);
  expect(calls).toEqual(['drain', 'idle']);
  expect(signals.exits).toHaveLength(1);
});

test('a request that fails counts as finished and keeps its error', async () => {
  const { clock, signals, drain } = setUp();
  const failing = drain.track(() => Promise.reject(new Error('its own')));
  signals.emit('SIGTERM');
  await expect(failing).rejects.toThrow('its own');
  await clock.advance(100);
  expect(signals.exits).toHaveLength(1);
});

test('a request that comes while the last answer leaves is finished as well', async () => {
  const { clock, signals, drain } = setUp();
  const [first, late] = [request(), request()];
  const answer = drain.track(first.run);
  signals.emit('SIGTERM');
  first.finish();
  await answer;
  await clock.advance(40);
  const lateAnswer = drain.track(late.run);
  await clock.advance(500);
  expect(signals.exits).toEqual([]);
  late.finish();
  expect(await lateAnswer).toBe('answer');
  await clock.advance(100);
  expect(signals.exits).toHaveLength(1);
});

test('the process exits when the limit is reached, whatever is in flight', async () => {
  const { clock, signals, drain } = setUp();
  const endless = request();
  const answer = drain.track(endless.run);
  signals.emit('SIGTERM');
  await clock.advance(8999);
  expect(signals.exits).toEqual([]);
  await clock.advance(1);
  expect(signals.exits).toEqual([{ code: 0, at: 9000 }]);
  endless.finish();
  await answer;
});

test('the limit holds from the signal on, also when onDrain throws or onIdle never ends', async () => {
  const throwing = setUp({
    onDrain: () => {
      throw new Error('cannot drain');
    },
  });
  const open = request();
  const answer = throwing.drain.track(open.run);
  expect(() => throwing.signals.emit('SIGTERM')).toThrow('cannot drain');
  await throwing.clock.advance(9000);
  expect(throwing.signals.exits).toEqual([{ code: 0, at: 9000 }]);
  open.finish();
  await answer;

  const hanging = setUp({ onIdle: () => new Promise(() => undefined) });
  hanging.signals.emit('SIGTERM');
  await hanging.clock.advance(9000);
  expect(hanging.signals.exits).toEqual([{ code: 0, at: 9000 }]);
});

test('a second SIGTERM changes nothing: what runs once runs once, and the limit does not move', async () => {
  const { clock, signals, drain, calls } = setUp();
  const endless = request();
  const answer = drain.track(endless.run);
  signals.emit('SIGTERM');
  await clock.advance(5000);
  signals.emit('SIGTERM');
  await clock.advance(4000);
  expect(calls).toEqual(['drain']);
  expect(signals.exits).toEqual([{ code: 0, at: 9000 }]);
  endless.finish();
  await answer;
});

test.each([
  ['rejects', () => Promise.reject(new Error('cannot close'))],
  [
    'throws',
    (): Promise<void> => {
      throw new Error('cannot close');
    },
  ],
])('the process exits with 0 when onIdle %s', async (_how, onIdle) => {
  const { clock, signals } = setUp({ onIdle });
  signals.emit('SIGTERM');
  await clock.advance(0);
  expect(signals.exits).toEqual([{ code: 0, at: 0 }]);
});

test('a SIGTERM handler that is registered later is taken off again, and those of other events stay', async () => {
  const { clock, signals } = setUp();
  const ran: string[] = [];
  signals.on('SIGTERM', () => ran.push('the framework: exit'));
  signals.once('SIGTERM', () => ran.push('the framework: exit once'));
  signals.on('SIGINT', () => ran.push('SIGINT'));
  await clock.advance(0);
  expect(signals.listenerCount('SIGTERM')).toBe(1);
  expect(signals.listenerCount('SIGINT')).toBe(1);
  signals.emit('SIGTERM');
  signals.emit('SIGINT');
  expect(ran).toEqual(['SIGINT']);
  await clock.advance(0);
  expect(signals.exits).toHaveLength(1);
});
