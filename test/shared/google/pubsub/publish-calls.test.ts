import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Metadata, ServerUnaryCall, sendUnaryData, UntypedServiceImplementation } from '@grpc/grpc-js';
import { afterEach, expect, test, vi } from 'vitest';
import { serviceOf } from '../../../../infra/local/servers/rpc/definition.ts';
import { serveGrpc } from '../../../../infra/local/servers/rpc/grpc.ts';
import type { PublishReply } from '../../../../shared/emission/ports.ts';
import { CredentialsError } from '../../../../shared/google/grpc/access.ts';
import {
  createPublishCalls,
  type PublishCalls,
  pubSubAccess,
  pubSubService,
} from '../../../../shared/google/pubsub/publish-calls.ts';
import {
  PublisherDefinition,
  type PublishRequest,
  type PublishResponse,
} from '../../../../shared/proto/google/pubsub/v1/pubsub.ts';
import { wireMessage } from '../../../support/wire-message.ts';

const TOPIC = 'projects/p/topics/t';
const closers: { close(): unknown }[] = [];

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const closer of closers.splice(0).toReversed()) await closer.close();
});

type Publish = (call: ServerUnaryCall<PublishRequest, PublishResponse>, answer: sendUnaryData<PublishResponse>) => void;

/** Calls to a server that answers `Publish` as a test says. */
async function callsTo(publish: Publish): Promise<PublishCalls> {
  const implementation = { publish } as unknown as UntypedServiceImplementation;
  const server = await serveGrpc([{ definition: serviceOf(PublisherDefinition), implementation }]);
  const calls = createPublishCalls({ emulatorEndpoint: server.address });
  closers.push(server, calls);
  return calls;
}

const messages = (...texts: string[]) => texts.map((text) => wireMessage({ data: Buffer.from(text), attributes: {} }));

const send = (calls: PublishCalls, given: { texts?: string[]; timeoutMillis?: number } = {}): Promise<PublishReply> =>
  calls.send({
    topic: TOPIC,
    messages: messages(...(given.texts ?? ['a'])),
    timeoutMillis: 5_000,
    signals: [],
    ...given,
  });

test('an attempt names its topic for routing, and who calls', async () => {
  let metadata: Metadata | undefined;
  const calls = await callsTo((call, answer) => {
    metadata = call.metadata;
    answer(null, { messageIds: ['1'] });
  });
  expect(await send(calls)).toEqual({ kind: 'confirmed' });
  expect(metadata?.get('x-goog-request-params')).toEqual(['topic=projects%2Fp%2Ftopics%2Ft']);
  expect(String(metadata?.get('x-goog-api-client')[0])).toContain('gl-node/');
});

test('an answer that does not tell of every message confirms none', async () => {
  const calls = await callsTo((_, answer) => {
    answer(null, { messageIds: ['1'] });
  });
  expect(await send(calls, { texts: ['a', 'b'] })).toEqual({
    kind: 'failed',
    status: { code: 'INTERNAL', message: 'the answer to 2 messages tells of 1' },
    isUnsent: false,
  });
});

test('requests of many sizes, one over another, arrive as they were given', async () => {
  const received: string[] = [];
  const calls = await callsTo(({ request }, answer) => {
    received.push(...request.messages.map(({ data }) => `${data.length} ${String.fromCharCode(data[0] ?? 0)}`));
    setTimeout(answer, request.messages.length, null, { messageIds: request.messages.map(() => 'id') });
  });
  const sizes = Array.from({ length: 60 }, (_, index) => [String.fromCharCode(65 + index), 1 + index * 997] as const);
  const replies = await Promise.all(
    sizes.map(([letter, size]) =>
      send(calls, { texts: Array.from({ length: 1 + (size % 3) }, () => letter.repeat(size)) }),
    ),
  );
  expect(new Set(replies.map(({ kind }) => kind))).toEqual(new Set(['confirmed']));
  expect(received.length).toBe(sizes.reduce((sum, [, size]) => sum + 1 + (size % 3), 0));
  for (const [letter, size] of sizes) expect(received).toContain(`${size} ${letter}`);
});

test('a server that is not there is UNAVAILABLE', async () => {
  const calls = createPublishCalls({ emulatorEndpoint: '127.0.0.1:1' });
  closers.push(calls);
  const reply = await send(calls);
  expect(reply).toMatchObject({ kind: 'failed', status: { code: 'UNAVAILABLE' } });
});

test('a server that takes connections and says nothing costs an attempt its time, and no more', async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const calls = createPublishCalls({ emulatorEndpoint: `127.0.0.1:${(server.address() as AddressInfo).port}` });
  const close = (): void => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  closers.push({ close }, calls);
  const startedAt = performance.now();
  expect(await send(calls, { timeoutMillis: 200 })).toMatchObject({ status: { code: 'DEADLINE_EXCEEDED' } });
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});

test('a topic without a project is a fault of the setup, which blames no message', async () => {
  const calls = createPublishCalls({});
  const reply = await calls.send({ topic: 'out', messages: messages('a'), timeoutMillis: 5_000, signals: [] });
  expect(reply).toMatchObject({ kind: 'failed', status: { code: 'FAILED_PRECONDITION' }, isUnsent: true });
});

test('after close no attempt is made', async () => {
  const calls = await callsTo((_, answer) => {
    answer(null, { messageIds: ['1'] });
  });
  await calls.open();
  calls.close();
  expect(await send(calls)).toMatchObject({ kind: 'failed', status: { code: 'UNAVAILABLE' }, isUnsent: true });
});

test('without credentials an attempt is unsent and says what to do, and opening rejects', async () => {
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', '/missing/key.json');
  vi.stubEnv('METADATA_SERVER_DETECTION', 'none');
  const calls = createPublishCalls({});
  closers.push(calls);
  const reply = await send(calls);
  expect(reply).toMatchObject({ kind: 'failed', status: { code: 'UNAVAILABLE' }, isUnsent: true });
  expect(reply.kind === 'failed' && reply.status.message).toContain('PUBSUB_EMULATOR_HOST');
  await expect(calls.open()).rejects.toBeInstanceOf(CredentialsError);
});

test('PUBSUB_EMULATOR_HOST names an emulator; empty or absent it names none', () => {
  expect(pubSubAccess({ PUBSUB_EMULATOR_HOST: '127.0.0.1:8085' })).toEqual({ emulatorEndpoint: '127.0.0.1:8085' });
  expect([pubSubAccess({ PUBSUB_EMULATOR_HOST: '' }), pubSubAccess({})]).toEqual([{}, {}]);
});

test.each([
  [undefined, 'pubsub.googleapis.com:443'],
  ['us-east1-pubsub.googleapis.com', 'us-east1-pubsub.googleapis.com:443'],
  ['us-east1-pubsub.googleapis.com:8443', 'us-east1-pubsub.googleapis.com:8443'],
])('publishEndpoint %s is reached at %s', (endpoint, address) => {
  expect(pubSubService(endpoint).address).toBe(address);
});
