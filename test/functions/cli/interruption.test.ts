import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { PubSub } from '@google-cloud/pubsub';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startPubSubServer, type LocalPubSub } from '../../../infra/local/servers/pubsub/server.ts';
import { untilAborted } from '../../../functions/cli/interruption.ts';
import { expectSoon } from '../../support/soon.ts';

/** The commands as processes that are told to end while they wait, for each thing that they wait for. */
const MAIN = resolve(import.meta.dirname, '../../../functions/cli/main.ts');
const READER = 'projects/p/subscriptions/dlq-reader';

let server: LocalPubSub;
let client: PubSub;
let folder: string;
const calls = new Map<string, number>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'connector-cli-'));
});
afterAll(() => rm(folder, { recursive: true }));

beforeEach(() => serve());
async function serve(options: Parameters<typeof startPubSubServer>[0] = {}): Promise<void> {
  server = await startPubSubServer(options);
  vi.stubEnv('PUBSUB_EMULATOR_HOST', server.address);
  client = new PubSub({ projectId: 'p' });
  await client.createTopic('orders');
  await client.topic('orders').createSubscription('orders-orders');
  await client.createTopic('dlq');
  await client.topic('dlq').createSubscription('dlq-reader', { ackDeadlineSeconds: 600 });
  await client.createTopic('dlq-orders-replay');
  await client.topic('dlq-orders-replay').createSubscription('dlq-orders-replay');
  calls.clear();
  for (const method of ['Pull', 'Publish', 'Acknowledge', 'ModifyAckDeadline'] as const) {
    const where = (): boolean => {
      calls.set(method, (calls.get(method) ?? 0) + 1);
      return false;
    };
    server.faults.add({ method, where, times: Number.POSITIVE_INFINITY, effect: { kind: 'delay', delayMillis: 0 } });
  }
  const sink = 'kind: bulk-sink, topic: orders, table: t, serializer: entry, framing: ndjson';
  const staged = 'kind: staged-sink, topic: orders, table: t, serializer: entry, markerFamily: m';
  await writeFile(
    join(folder, 'connector.yaml'),
    `defaults: { project: p, instance: i }
pipelines:
  orders: { ${sink}, failurePolicy: dead-letter, deadLetter: { topic: dlq } }
  staged: { ${staged} }
`,
  );
}
afterEach(async () => {
  vi.unstubAllEnvs();
  await client.close();
  await server.close();
});

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

interface Running {
  readonly ended: Promise<Ended>;
  readonly process: ReturnType<typeof spawn>;
  /** What it has said until now. */
  readonly said: () => string;
}

const begun: Running[] = [];
afterEach(() => {
  for (const { process } of begun.splice(0)) process.kill('SIGKILL');
});

function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: folder, env: { ...process.env, ...env } });
  const [out, err]: [string[], string[]] = [[], []];
  child.stdout.on('data', (text: Buffer) => out.push(text.toString()));
  child.stderr.on('data', (text: Buffer) => err.push(text.toString()));
  const ended = new Promise<Ended>((done) => {
    child.once('close', (code) => {
      done({ code, out: out.join(''), err: err.join('') });
    });
  });
  const running = { ended, process: child, said: () => [...out, ...err].join('') };
  begun.push(running);
  return running;
}

/** Waits until something is so; a command that has ended meanwhile says why. */
const until = (isSo: () => boolean): Promise<void> =>
  vi.waitFor(
    () => {
      if (!isSo()) throw new Error(`not yet: ${begun.map(({ said }) => said()).join('\n')}`);
    },
    { timeout: 20_000, interval: 20 },
  );

/** Sends the signal and measures how long the process goes on. */
async function end({ process, ended }: Running, by: 'SIGINT' | 'SIGTERM' = 'SIGINT'): Promise<Ended> {
  const at = performance.now();
  process.kill(by);
  const outcome = await ended;
  expectSoon(at);
  return outcome;
}

const file = async (count: number): Promise<string> => {
  await writeFile(join(folder, 'records.ndjson'), '{"a":1}\n'.repeat(count));
  return 'records.ndjson';
};

async function fileLetters(count: number): Promise<void> {
  const attributes = {
    'dlq-connector': 'bigtable',
    'dlq-pipeline': 'orders',
    'dlq-reason': 'rejected',
    'dlq-timestamp': '2026-01-01T00:00:00.000Z',
  };
  const topic = client.topic('dlq');
  await Promise.all(
    Array.from({ length: count }, (_, index) => topic.publishMessage({ data: Buffer.from(`${index}`), attributes })),
  );
}

/** Takes the letters that are visible now, as another reader would. */
const visible = async (): Promise<number> => {
  const before = server.counters(READER);
  const again = await start(['replay-dlq', 'orders', '--idle', '1']).ended;
  expect(server.counters(READER).backlog).toBe(before.backlog);
  return Number(/^(\d+) letters/m.exec(again.out)?.[1]);
};

describe('told to end while it waits', { timeout: 60_000 }, () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('for letters, replay-dlq is over within a second: %s, exit code %i', async (signal, code) => {
    const running = start(['replay-dlq', 'orders']);
    await until(() => calls.get('Pull') !== undefined);
    const ended = await end(running, signal);
    expect(ended.code).toBe(code);
    expect(ended.out).toContain('0 letters in projects/p/subscriptions/dlq-reader; interrupted, there may be more');
  });

  test('for letters that come later, replay-dlq leaves none leased', async () => {
    const running = start(['replay-dlq', 'orders']);
    await until(() => calls.get('Pull') !== undefined);
    await end(running);
    await fileLetters(3);
    expect(await visible()).toBe(3);
  });

  test('for its pace, replay-dlq acknowledges what it published, and gives everything else back', async () => {
    await fileLetters(20);
    const running = start(['replay-dlq', 'orders', '--apply', '--rate', '2']);
    await until(() => (calls.get('Publish') ?? 0) > 1);
    const { code, out } = await end(running);
    expect(code).toBe(130);
    const [, published] =
      /^(\d+) letters published to .* and acknowledged; \d+ given back; interrupted/.exec(out) ?? [];
    expect(Number(published)).toBeGreaterThan(0);
    expect(server.counters(READER).backlog).toBe(20 - Number(published));
    expect(await visible()).toBe(20 - Number(published));
  });

  test('for confirmations that do not come, replay-dlq gives the letters back and says that they may come twice', async () => {
    await fileLetters(5);
    server.faults.add({ method: 'Publish', effect: { kind: 'never-answer', isApplied: true } });
    const running = start(['replay-dlq', 'orders', '--apply']);
    await until(() => server.counters('projects/p/subscriptions/dlq-orders-replay').backlog > 0);
    const { code, out, err } = await end(running);
    expect(code).toBe(130);
    expect(err).toContain('5 letters were on their way unconfirmed, and may come twice');
    expect(out).toContain('0 letters published');
    expect(await visible()).toBe(5);
  });

  test('for an acknowledgement that does not come, replay-dlq says which letters are delivered once more', async () => {
    await fileLetters(5);
    server.faults.add({ method: 'Acknowledge', effect: { kind: 'never-answer', isApplied: false }, times: 10 });
    const running = start(['replay-dlq', 'orders', '--apply']);
    await until(() => calls.get('Acknowledge') !== undefined);
    const { code, err } = await end(running);
    expect(code).toBe(130);
    expect(err).toContain('5 letters were published and perhaps not acknowledged, and are then delivered once more');
  });

  test('for the end of leases that is not answered, replay-dlq says how long letters stay invisible', async () => {
    await fileLetters(5);
    const running = start(['replay-dlq', 'orders']);
    await until(() => (calls.get('Pull') ?? 0) > 1);
    server.faults.stall();
    const { code, out, err } = await end(running);
    expect(code).toBe(130);
    expect(err).toContain('5 messages could not be given back, and are visible again within 30 s');
    expect(out).toContain('5 letters in projects/p/subscriptions/dlq-reader, 5 not given back; interrupted');
  });

  test('for a confirmation, publish counts it as neither published nor failed', async () => {
    server.faults.add({ method: 'Publish', effect: { kind: 'never-answer', isApplied: false }, times: 10 });
    const running = start(['publish', 'orders', await file(200)]);
    await until(() => calls.get('Publish') !== undefined);
    const { code, out, err } = await end(running, 'SIGTERM');
    expect(code).toBe(143);
    expect(out).toMatch(
      /^published 0 records in 0 messages .* failed 0; 200 on their way unconfirmed, which may or may not have been published\n$/,
    );
    expect(err).toBe('');
  });

  test('for standard input, publish tells what was published until then', async () => {
    const running = start(['publish', 'orders']);
    running.process.stdin?.write('{"a":1}\n{"a":2}\n{"a"');
    await until(() => server.counters('projects/p/subscriptions/orders-orders').backlog === 2);
    const { code, out, err } = await end(running);
    expect(code).toBe(130);
    expect(err).toBe('stopped before the end of the input: interrupted\n');
    expect(out).toMatch(/^published 2 records in 2 messages .* failed 0\n$/);
  });

  test('for its rate, publish', async () => {
    const running = start(['publish', 'orders', '--rate', '1', await file(200)]);
    await until(() => calls.get('Publish') !== undefined);
    const { code, out } = await end(running);
    expect(code).toBe(130);
    expect(out).toMatch(/^published [12] records/);
  });

  test('for standard input, map', async () => {
    const running = start(['map', 'orders']);
    // More than a pipe holds: written once the command reads.
    await new Promise((written) => running.process.stdin?.write(`{"a":"${'a'.repeat(1_000_000)}`, written));
    expect(await end(running)).toEqual({ code: 130, out: '', err: 'interrupted\n' });
  });

  test('for a Firestore that does not answer, status', async () => {
    const silent = await new Promise<Server>((resolve) => {
      const listening = createServer(() => undefined).listen(0, '127.0.0.1', () => {
        resolve(listening);
      });
    });
    let isReached = false;
    silent.on('connection', () => {
      isReached = true;
    });
    const { port } = silent.address() as { readonly port: number };
    const running = start(['status'], { FIRESTORE_EMULATOR_HOST: `127.0.0.1:${port}` });
    await until(() => isReached);
    const { code, out } = await end(running);
    running.process.kill('SIGKILL');
    silent.close();
    expect([code, out]).toEqual([130, '']);
  });
});

describe('a server that stops in the middle', { timeout: 60_000 }, () => {
  test('ends replay-dlq with what was done until then, the letters that stay invisible, and exit code 1', async () => {
    await fileLetters(5);
    const running = start(['replay-dlq', 'orders']);
    await until(() => (calls.get('Pull') ?? 0) > 1);
    await server.close();
    const { code, out, err } = await running.ended;
    expect(code).toBe(1);
    expect(out).toContain('5 not given back; ended by an error, there may be more');
    expect(err).toMatch(/5 messages could not be given back, and are visible again within 30 s: .{50,200}\n/);
    expect(err).toMatch(/\nerror: \d+ [A-Z_]+: /);
  });

  test('leaves publish with records that are not confirmed, and Ctrl-C ends it all the same', async () => {
    const running = start(['publish', 'orders', '--rate', '10', await file(200)]);
    await until(() => (calls.get('Publish') ?? 0) > 1);
    await server.close();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const { code, out } = await end(running);
    expect(code).toBe(130);
    expect(out).toMatch(/^published [1-9]\d* records .* failed 0; [1-9]\d* on their way unconfirmed/);
  });
});

test('letters of a run that was killed are waited for', { timeout: 60_000 }, async () => {
  await server.close();
  // A lease of 30 s ends after 10 s.
  await serve({ timeScale: 3 });
  await fileLetters(4);
  const killed = start(['replay-dlq', 'orders']);
  await until(() => (calls.get('ModifyAckDeadline') ?? 0) > 0);
  killed.process.kill('SIGKILL');
  await killed.ended;

  const { code, out, err } = await start(['replay-dlq', 'orders']).ended;
  expect(err).toContain('nothing is visible in projects/p/subscriptions/dlq-reader yet; looking 25 s more');
  expect(out).toContain('4 letters in projects/p/subscriptions/dlq-reader, all given back\n');
  expect(code).toBe(0);
});

test('a second Ctrl-C ends the process at once', { timeout: 30_000 }, async () => {
  const running = start(['replay-dlq', 'orders']);
  await until(() => calls.get('Pull') !== undefined);
  server.faults.stall();
  running.process.kill('SIGINT');
  running.process.kill('SIGINT');
  expect((await running.ended).code).toBe(130);
});

test('chunks that nobody sends are waited for until the signal, and the rest is not read', async () => {
  const interrupted = new AbortController();
  const read: string[] = [];
  async function* source(): AsyncGenerator<Buffer> {
    yield Buffer.from('first');
    await new Promise(() => undefined);
  }
  const reading = (async () => {
    for await (const chunk of untilAborted(source(), interrupted.signal)) read.push(chunk.toString());
  })();
  await new Promise(setImmediate);
  interrupted.abort(new Error('interrupted'));
  await expect(reading).rejects.toThrow('interrupted');
  expect(read).toEqual(['first']);
});
