import { expect, test } from 'vitest';
import type { Delivery } from '../../../../../../infra/local/servers/pubsub/delivery/entry.ts';
import { PushLoop } from '../../../../../../infra/local/servers/pubsub/push/push-loop.ts';
import { systemClock } from '../../../../../../shared/base/clock.ts';
import { startPushEndpoint, until } from '../push-endpoint.ts';

const delivery = (attempt: number): Delivery => ({
  ackId: `1:${attempt}`,
  attempt,
  message: {
    sequence: 1,
    publishMicros: 0n,
    bytes: 1,
    holders: 1,
    wire: { data: Buffer.from('x'), attributes: {}, messageId: '1', publishTime: undefined, orderingKey: '' },
  },
});

test.each([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])(
  'a pause is always followed by another push, also when time moves %d ms while the loop decides',
  async (step) => {
    const endpoint = await startPushEndpoint((_push, index) => (index === 0 ? 500 : 204));
    let shift = 0;
    const clock = { ...systemClock, now: () => Date.now() + (shift += step) };
    let attempts = 0;
    let isWanted = true;
    const loop: PushLoop = new PushLoop(
      {
        describe: () => ({ subscription: 's', ackDeadlineMillis: 10_000, showsAttempt: false }),
        take: () => {
          if (!isWanted) return [];
          isWanted = false;
          return [delivery((attempts += 1))];
        },
        acknowledge: () => undefined,
        refuse: () => {
          isWanted = true;
        },
        wake: () => loop.pump(),
        delayMillis: () => 0,
      },
      { endpoint: endpoint.url, body: 'wrapped' },
      { clock, shrink: (millis) => millis },
      { window: { start: 1, cap: 1 }, backoff: { minMillis: 1, maxMillis: 1 } },
    );
    loop.pump();
    await until(() => endpoint.pushes.length === 2, 'the second push', 1000);
    loop.stop();
    expect(attempts).toBe(2);
    await endpoint.close();
  },
);
