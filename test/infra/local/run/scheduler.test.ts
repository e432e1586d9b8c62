import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type LocalScheduler, type SchedulerOptions, startSchedule } from '../../../../infra/local/run/scheduler.ts';
import type { PlannedSchedule } from '../../../../shared/deployment/plan.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { eventually } from '../../../support/eventually.ts';

const MINUTE = 60_000;
const EVERY_MINUTE = { name: 'job', function: 'one', cron: '* * * * *', attemptDeadlineSeconds: 120 };

let server: Server;
let clock: ManualClock;
let startedAt: number;
let scheduler: LocalScheduler | undefined;
/** Minutes since the start at which attempts arrived, and what they were. */
let attempts: { readonly minute: number; readonly method: string | undefined }[];
let open: ServerResponse[];
let failures: string[];
let answer: (response: ServerResponse) => void;

beforeEach(async () => {
  clock = new ManualClock();
  startedAt = clock.now();
  attempts = [];
  open = [];
  failures = [];
  answer = (response) => response.writeHead(200).end('{}');
  server = createServer((request: IncomingMessage, response) => {
    attempts.push({ minute: (clock.now() - startedAt) / MINUTE, method: request.method });
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  await scheduler?.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  expect(clock.pending).toBe(0);
});

function start(schedule: PlannedSchedule = EVERY_MINUTE, options: SchedulerOptions = {}): void {
  const { port } = server.address() as AddressInfo;
  scheduler = startSchedule(schedule, `http://127.0.0.1:${port}/`, {
    ...options,
    clock,
    onFailure: (message) => failures.push(message),
  });
}

/** Lets the attempt that is due arrive, and its answer. */
async function arrived(count: number): Promise<void> {
  await clock.advance(0);
  await eventually(() => {
    expect(attempts).toHaveLength(count);
  });
}

/** The scheduler waits for its next slot again. */
const waiting = (): Promise<void> =>
  eventually(() => {
    expect(clock.pending).toBe(1);
  });

test('posts at once and then every minute', async () => {
  start();
  await arrived(1);
  for (const count of [2, 3]) {
    await waiting();
    await clock.advance(MINUTE);
    await arrived(count);
  }
  expect(attempts).toEqual([0, 1, 2].map((minute) => ({ minute, method: 'POST' })));
  expect(failures).toEqual([]);
});

test('an attempt that takes longer than a minute delays the next one, and none pile up', async () => {
  answer = (response) => open.push(response);
  start();
  await arrived(1);
  await clock.advance(2.5 * MINUTE);
  expect(attempts).toHaveLength(1);
  answer = (response) => response.writeHead(200).end();
  open[0]?.writeHead(200).end();
  await arrived(2);
  await waiting();
  await clock.advance(0.5 * MINUTE);
  await arrived(3);
  expect(attempts.map(({ minute }) => minute)).toEqual([0, 2.5, 3]);
});

test('an attempt that fails is told, and the next one comes at its time', async () => {
  answer = (response) => response.writeHead(503).end('shutting down');
  start();
  await arrived(1);
  await waiting();
  answer = (response) => response.destroy();
  await clock.advance(MINUTE);
  await arrived(2);
  await waiting();
  expect(failures).toEqual([
    'the scheduler was answered 503: shutting down',
    expect.stringMatching(/^the scheduler had no answer: /),
  ]);
});

test('a stop waits for no attempt', async () => {
  answer = (response) => open.push(response);
  start();
  await arrived(1);
  await scheduler?.stop();
  expect(failures).toEqual([]);
});

test('a job posts its body, and says which job it is and for which time', async () => {
  const seen: { readonly headers: IncomingMessage['headers']; readonly body: string }[] = [];
  const receive = async (request: IncomingMessage): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    seen.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
  };
  server.on('request', (request: IncomingMessage) => {
    receive(request).catch(() => undefined);
  });
  start({ ...EVERY_MINUTE, name: 'scan-read-2', body: { slot: 2 }, slot: 2 });
  await arrived(1);
  await waiting();
  await eventually(() => {
    expect(seen).toHaveLength(1);
  });
  expect(seen[0]?.body).toBe('{"slot":2}');
  expect(seen[0]?.headers).toMatchObject({
    'content-type': 'application/json',
    'x-cloudscheduler': 'true',
    'x-cloudscheduler-jobname': 'scan-read-2',
    'x-cloudscheduler-scheduletime': '2026-01-01T00:00:00Z',
  });
});

test('a job of another interval posts at its times, and not before', async () => {
  start({ ...EVERY_MINUTE, cron: '*/5 * * * *' });
  await clock.advance(4.9 * MINUTE);
  expect(attempts).toEqual([]);
  for (const count of [1, 2]) {
    await clock.advance(count === 1 ? 0.1 * MINUTE : 5 * MINUTE);
    await arrived(count);
    await waiting();
  }
  expect(attempts.map(({ minute }) => minute)).toEqual([5, 10]);
});

test('times are full minutes of the time that runs faster, as its functions have it', async () => {
  // By that time it is half a minute past.
  start(EVERY_MINUTE, { timeScale: 11, since: clock.now() - 3_000 });
  await arrived(1);
  await waiting();
  await clock.advance(30_000 / 11);
  await arrived(2);
  await waiting();
  await clock.advance(59_000 / 11);
  expect(attempts).toHaveLength(2);
  await clock.advance(1_000 / 11);
  await arrived(3);
  await waiting();
});

test('a schedule that is none is refused by its name', () => {
  expect(() => startSchedule({ ...EVERY_MINUTE, cron: '0 3 * *' }, 'http://127.0.0.1:1/', {})).toThrow(
    'the schedule job: a schedule has five fields, got "0 3 * *"',
  );
});
