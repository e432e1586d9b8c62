import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createMetrics } from '../../../../shared/base/metrics.ts';
import type { ChannelSet } from '../../../../shared/google/grpc/channel.ts';
import { ClientPool } from '../../../../shared/google/bigtable/clients.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { testRuntime } from '../../../support/runtime.ts';

const never = new AbortController().signal;

/** No client connects before its first call, so that these need no server. */
const ADDRESS = '127.0.0.1:1';

let clock: ManualClock;
let pool: ClientPool;
let metrics: ReturnType<typeof createMetrics>;

function open(maxActiveInstances: number, destinationIdleTimeoutMillis = 1000): void {
  clock = new ManualClock();
  metrics = createMetrics();
  pool = new ClientPool(
    { emulatorEndpoint: ADDRESS, maxActiveInstances, destinationIdleTimeoutMillis },
    testRuntime({ clock, metrics }),
  );
}

beforeEach(() => {
  open(2);
});

afterEach(() => {
  pool.close();
});

const instance = (name: string) => ({ project: 'p', instance: name });
const activeClients = (): number | undefined => metrics.snapshot().gauges.activeClients;

/** Uses the client of an instance and lets go of it at once. */
const touch = (name: string): Promise<ChannelSet> =>
  pool.use(instance(name), never, (channels) => Promise.resolve(channels));

/** A use that lasts until it is ended. `channels` is undefined while it waits. */
function hold(name: string, signal = never) {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const use: { channels?: ChannelSet; end: () => Promise<void> } = {
    end: async () => {
      resolve(undefined);
      await done;
      await turn();
    },
  };
  const done = pool.use(instance(name), signal, async (channels) => {
    use.channels = channels;
    await promise;
  });
  return use;
}

describe('one client per instance', () => {
  test('uses of an instance share its client, at once and later; other instances and projects have their own', async () => {
    open(10);
    const [first, second] = await Promise.all([touch('a'), touch('a')]);
    expect(second).toBe(first);
    expect(await touch('a')).toBe(first);
    expect(await touch('b')).not.toBe(first);
    const sameName = await pool.use({ project: 'other', instance: 'a' }, never, (channels) =>
      Promise.resolve(channels),
    );
    expect(sameName).not.toBe(first);
    expect(activeClients()).toBe(3);
  });

  test('a use passes on its result and its error, and either ends it', async () => {
    expect(await pool.use(instance('a'), never, () => Promise.resolve('result'))).toBe('result');
    await expect(pool.use(instance('a'), never, () => Promise.reject(new Error('its own')))).rejects.toThrow('its own');
    await expect(
      pool.use(instance('a'), never, (): Promise<string> => {
        throw new Error('at once');
      }),
    ).rejects.toThrow('at once');
    await clock.advance(1001);
    pool.sweep();
    expect(activeClients()).toBe(0);
  });

  test('close closes every client', async () => {
    await touch('a');
    await touch('b');
    pool.close();
    expect(activeClients()).toBe(0);
  });
});

describe('at the cap', () => {
  test('a new instance closes the idle client that was used least recently', async () => {
    const a = await touch('a');
    const b = await touch('b');
    expect(await touch('a')).toBe(a);
    await touch('c');
    expect(metrics.snapshot()).toMatchObject({ counters: { capacityEvictions: 1 }, gauges: { activeClients: 2 } });
    expect(await touch('a')).toBe(a);
    expect(metrics.snapshot().counters).toEqual({});
    expect(await touch('b')).not.toBe(b);
  });

  test('a client in use is not closed, though it was used least recently', async () => {
    const a = hold('a');
    const b = await touch('b');
    await touch('c');
    expect(await touch('b')).not.toBe(b);
    expect(await touch('a')).toBe(a.channels);
    await a.end();
  });

  test('with all clients in use a new instance waits, and those that wait are served in the order they came', async () => {
    open(1);
    const first = hold('a');
    await turn();
    const waiting = ['b', 'c', 'd'].map((name) => hold(name));
    await turn();
    const served = (): boolean[] => waiting.map(({ channels }) => channels !== undefined);
    expect(served()).toEqual([false, false, false]);
    await first.end();
    expect(served()).toEqual([true, false, false]);
    await waiting[0]?.end();
    expect(served()).toEqual([true, true, false]);
    await waiting[1]?.end();
    expect(served()).toEqual([true, true, true]);
    await waiting[2]?.end();
    expect(metrics.snapshot()).toMatchObject({ counters: { capacityEvictions: 3 }, gauges: { activeClients: 1 } });
  });

  test('uses of the instance that is open do not keep one that waits out forever', async () => {
    open(1);
    let current = hold('a');
    await turn();
    const waiting = hold('b');
    await turn();
    const later = hold('a');
    await current.end();
    expect(waiting.channels).toBeDefined();
    expect(later.channels).toBeUndefined();
    await waiting.end();
    expect(later.channels).toBeDefined();
    current = later;
    await current.end();
  });

  test('all who wait for the same instance are served together when it is there', async () => {
    open(1);
    const first = hold('a');
    await turn();
    const [one, two, three] = [hold('b'), hold('b'), hold('b')];
    await turn();
    await first.end();
    expect(one.channels).toBeDefined();
    expect(two.channels).toBe(one.channels);
    expect(three.channels).toBe(one.channels);
    await Promise.all([one.end(), two.end(), three.end()]);
  });

  test('a wait that aborts names the option, keeps the reason, and lets those behind it pass', async () => {
    open(1);
    const first = hold('a');
    await turn();
    const controller = new AbortController();
    const reason = new Error('the request timed out');
    const aborted = expect(pool.use(instance('b'), controller.signal, () => Promise.resolve())).rejects.toMatchObject({
      message: expect.stringContaining('maxActiveInstances: all 1 Bigtable clients stayed busy') as string,
      cause: reason,
    });
    await turn();
    const sameAsFirst = hold('a');
    await turn();
    expect(sameAsFirst.channels).toBeUndefined();
    controller.abort(reason);
    await aborted;
    await turn();
    expect(sameAsFirst.channels).toBe(first.channels);
    await Promise.all([first.end(), sameAsFirst.end()]);
    await touch('c');
    expect(activeClients()).toBe(1);
  });

  test('a signal that aborted before gets no client and closes none', async () => {
    open(1);
    const a = await touch('a');
    const used = pool.use(instance('b'), AbortSignal.abort(new Error('before')), () => Promise.resolve('used'));
    await expect(used).rejects.toThrow('before');
    expect(await touch('a')).toBe(a);
  });

  test('after close nobody is let in, who waits included, and no client is opened', async () => {
    open(1);
    const first = hold('a');
    await turn();
    const waiting = expect(pool.use(instance('b'), never, () => Promise.resolve())).rejects.toThrow('closed');
    await turn();
    pool.close();
    await waiting;
    await first.end();
    await expect(touch('c')).rejects.toThrow('closed');
    expect(activeClients()).toBe(0);
  });

  test('five hundred instances, one after another and at once, never hold more than the cap', async () => {
    open(3);
    let most = 0;
    let inUse = 0;
    const names = Array.from({ length: 500 }, (_, index) => `i-${index % 50}`);
    await Promise.all(
      names.map((name) =>
        pool.use(instance(name), never, async () => {
          inUse += 1;
          most = Math.max(most, activeClients() ?? 0);
          await turn();
          inUse -= 1;
        }),
      ),
    );
    expect(most).toBe(3);
    expect(inUse).toBe(0);
    expect(activeClients()).toBe(3);
  });
});

describe('the sweep', () => {
  test('closes a client that was idle for longer than the timeout, not one that was so for exactly as long', async () => {
    const a = await touch('a');
    await clock.advance(1000);
    pool.sweep();
    expect(metrics.snapshot().counters).toEqual({});
    expect(await touch('a')).toBe(a);
    await clock.advance(1001);
    pool.sweep();
    expect(metrics.snapshot()).toMatchObject({ counters: { idleEvictions: 1 }, gauges: { activeClients: 0 } });
    expect(await touch('a')).not.toBe(a);
  });

  test('leaves a client in use, and counts its idle time from the end of the use', async () => {
    const use = hold('a');
    await clock.advance(5000);
    pool.sweep();
    expect(activeClients()).toBe(1);
    await use.end();
    await clock.advance(1000);
    pool.sweep();
    expect(activeClients()).toBe(1);
    await clock.advance(1);
    pool.sweep();
    expect(activeClients()).toBe(0);
  });
});
