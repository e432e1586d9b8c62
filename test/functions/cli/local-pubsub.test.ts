import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { PubSub } from '@google-cloud/pubsub';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPubSubServer, type LocalPubSub } from '../../../infra/local/servers/pubsub/server.ts';

/** The command as people run it, in a process of its own, against the local Pub/Sub through the official client. */
const MAIN = resolve(import.meta.dirname, '../../../functions/cli/main.ts');
const CONFIG = `
defaults: { project: p, instance: i }
pipelines:
  orders:
    { kind: bulk-sink, topic: orders, table: t, serializer: entry, framing: ndjson, failurePolicy: dead-letter, deadLetter: { topic: dlq } }
`;

let server: LocalPubSub;
let client: PubSub;
let folder: string;

beforeAll(async () => {
  server = await startPubSubServer();
  process.env.PUBSUB_EMULATOR_HOST = server.address;
  client = new PubSub({ projectId: 'p' });
  for (const [topic, subscription] of [
    ['orders', 'orders-orders'],
    ['dlq', 'dlq-reader'],
    ['dlq-orders-replay', 'dlq-orders-replay'],
  ] as const) {
    await client.createTopic(topic);
    await client.topic(topic).createSubscription(subscription);
  }
  folder = await mkdtemp(join(tmpdir(), 'connector-cli-'));
  await writeFile(join(folder, 'connector.yaml'), CONFIG);
});

afterAll(async () => {
  delete process.env.PUBSUB_EMULATOR_HOST;
  await client.close();
  await server.close();
  await rm(folder, { recursive: true });
});

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const connector = (args: readonly string[], input = ''): Promise<Ended> =>
  new Promise((done) => {
    const child = execFile(process.execPath, [MAIN, ...args], { cwd: folder }, (error, out, err) => {
      done({ code: typeof error?.code === 'number' ? error.code : 0, out, err });
    });
    child.stdin?.end(input);
  });

const backlog = (subscription: string): number => server.counters(`projects/p/subscriptions/${subscription}`).backlog;

test('records that are published are in the subscription, and a bad line is named', async () => {
  const lines = Array.from({ length: 1_000 }, (_, index) => JSON.stringify({ index }));
  const { code, out, err } = await connector(['publish', 'orders', '-n', '10'], [...lines, 'no'].join('\n'));
  expect(err).toBe('standard input, line 1001: is not JSON; --format lines publishes a line as it is\n');
  expect(out).toMatch(/^published 1,000 records in 100 messages .* failed 1\n$/);
  expect(code).toBe(1);
  expect(backlog('orders-orders')).toBe(100);
});

test('dead letters are looked at, then published again and gone', { timeout: 60_000 }, async () => {
  const letter = { 'dlq-connector': 'bigtable', 'dlq-pipeline': 'orders', 'dlq-reason': 'rejected', color: 'red' };
  const dlq = client.topic('dlq');
  await Promise.all(
    Array.from({ length: 150 }, (_, index) =>
      dlq.publishMessage({ data: Buffer.from(`row ${index}`), attributes: { ...letter, 'dlq-payload': 'record' } }),
    ),
  );

  const looked = await connector(['replay-dlq', 'orders', '--idle', '1']);
  expect(looked).toMatchObject({ code: 0, err: '' });
  expect(looked.out).toContain('150 letters in projects/p/subscriptions/dlq-reader, all given back\n');

  const applied = await connector(['replay-dlq', 'orders', '--idle', '1', '--apply']);
  expect(applied.out).toBe(
    '150 letters published to projects/p/topics/dlq-orders-replay and acknowledged; 0 given back\n',
  );
  expect(applied.code).toBe(0);
  expect(backlog('dlq-reader')).toBe(0);
  expect(backlog('dlq-orders-replay')).toBe(150);
});

test('what Pub/Sub refuses is an error with its words and without a stack', async () => {
  const { code, err } = await connector(['replay-dlq', 'orders', '--subscription', 'nope']);
  expect(code).toBe(1);
  expect(err).toMatch(/^error: 5 NOT_FOUND: .*nope/);
  expect(err).not.toContain('    at ');
});

test('a configuration is validated without anything else', async () => {
  const { code, out } = await connector(['validate']);
  expect(code).toBe(0);
  expect(out).toMatch(/^PIPELINE .*\norders +bulk-sink +projects\/p\/topics\/orders/);
});

test('a module that only a bundler reads is a warning, and one that holds timers holds no command up', async () => {
  await writeFile(join(folder, 'enum.ts'), 'setInterval(() => 1, 1000);\nenum A { b }\nexport default () => A.b;\n');
  await writeFile(join(folder, 'timer.ts'), 'setInterval(() => 1, 1000);\nexport default (): null => null;\n');
  const sink = 'kind: bulk-sink, topic: orders, table: t';
  await writeFile(
    join(folder, 'modules.yaml'),
    `defaults: { project: p, instance: i }
pipelines:
  one: { ${sink}, serializer: { module: ./enum.ts } }
  two: { ${sink}, serializer: { module: ./timer.ts } }
`,
  );
  const { code, err } = await connector(['validate', 'modules.yaml']);
  expect(err).toMatch(
    /^warning: pipelines\.one\.serializer\.module: \.\/enum\.ts holds TypeScript that Node does not load/,
  );
  expect(err.trim().split('\n')).toHaveLength(1);
  expect(code).toBe(0);
});

test('a pipe that is closed early, as head does, is no error', async () => {
  const child = execFile(process.execPath, [MAIN, 'validate', '--help'], { cwd: folder });
  child.stdout?.destroy();
  const errors: string[] = [];
  child.stderr?.on('data', (text: string) => errors.push(text));
  const code = await new Promise((done) => child.once('exit', done));
  expect([code, errors.join('')]).toEqual([0, '']);
});
