import { afterEach, expect, test } from 'vitest';
import { unary } from '../../../../../infra/local/cloud/unary.ts';
import { serve, type HandlersOf } from '../../../../../infra/local/servers/rpc/calls.ts';
import { connectTo, type ClientOf } from '../../../../../infra/local/servers/rpc/client.ts';
import type { CallsOf } from '../../../../../infra/local/servers/rpc/faults.ts';
import { GrpcError } from '../../../../../infra/local/servers/rpc/grpc.ts';
import { draftServer, type RpcServer } from '../../../../../infra/local/servers/rpc/server.ts';
import { unserved } from '../../../../../infra/local/servers/rpc/unserved.ts';
import { systemClock } from '../../../../../shared/base/clock.ts';
import { createLogger } from '../../../../../shared/base/logging.ts';
import { Duration } from '../../../../../shared/proto/google/protobuf/duration.ts';
import { code, collected } from '../../../../support/firestore-raw-client.ts';

const rpc = { requestType: Duration, requestStream: false, responseType: Duration } as const;
/** One API, as the generated files hold it. */
const API = {
  fullName: 'test.v1.Clock',
  methods: {
    double: { ...rpc, name: 'Double', responseStream: false },
    count: { ...rpc, name: 'Count', responseStream: true },
    stop: { ...rpc, name: 'Stop', responseStream: false },
  },
} as const;
type Calls = CallsOf<typeof API>;

const seconds = (count: number): Duration => ({ seconds: BigInt(count), nanos: 0 });
const LOST = { code: 'UNAVAILABLE', message: 'lost' } as const;

const handlers: Partial<HandlersOf<typeof API, Calls>> = {
  double: (request) => {
    if (request.seconds === 0n) throw new GrpcError('OUT_OF_RANGE', 'nothing to double');
    if (request.seconds < 0n) throw new RangeError('a defect');
    return { seconds: request.seconds * 2n, nanos: 0 };
  },
  count: async (request, { send }) => {
    for (let at = 0; at < Number(request.seconds); at += 1) await send(seconds(at));
  },
};

const logged: string[] = [];
let server: RpcServer<Calls> | undefined;
let client: ClientOf<typeof API> | undefined;

async function start(): Promise<{ server: RpcServer<Calls>; client: ClientOf<typeof API> }> {
  const { context, listen } = draftServer<Calls>({
    product: 'Clock',
    clock: systemClock,
    log: createLogger({}, (line) => logged.push((JSON.parse(line) as { message: string }).message)),
  });
  server = await listen(
    [serve(API, context, handlers), unserved(API.fullName, { Wind: 'it winds itself' })],
    undefined,
  );
  client = connectTo(API, server.address);
  return { server, client };
}

afterEach(async () => {
  client?.close();
  await server?.close();
  logged.length = 0;
});

test('a handler is called as its definition says, and every call is counted', async () => {
  const { server, client } = await start();
  expect(await unary(client.double.bind(client), seconds(21))).toEqual(seconds(42));
  expect(await collected(client.count(seconds(3)))).toEqual([seconds(0), seconds(1), seconds(2)]);
  expect(server.requestCounts()).toEqual({ Double: 1, Count: 1 });
});

test('a refusal keeps its status; any other error is INTERNAL, and told to the log', async () => {
  const { client } = await start();
  expect(await code(unary(client.double.bind(client), seconds(0)))).toBe('OUT_OF_RANGE');
  expect(logged).toEqual([]);
  expect(await code(unary(client.double.bind(client), seconds(-1)))).toBe('INTERNAL');
  expect(logged).toEqual(['local Clock: Double failed']);
});

test('an RPC without a handler is UNIMPLEMENTED, with a reason where there is one', async () => {
  const { client } = await start();
  expect(await code(unary(client.stop.bind(client), seconds(1)))).toBe('UNIMPLEMENTED');
  const same = (bytes: Buffer): Buffer => bytes;
  const refusal = new Promise<string>((resolve) => {
    client.makeUnaryRequest('/test.v1.Clock/Wind', same, same, Buffer.alloc(0), (error) => {
      resolve(error?.message ?? 'served');
    });
  });
  expect(await refusal).toBe('12 UNIMPLEMENTED: it winds itself');
});

test('a lost answer of a stream loses all of its messages', async () => {
  const { server, client } = await start();
  server.faults.add({ method: 'Count', effect: { kind: 'lose-answer', status: LOST } });
  const received: Duration[] = [];
  const stream = client.count(seconds(3)).on('data', (message: Duration) => received.push(message));
  const error = await new Promise<Error>((resolve) => stream.once('error', resolve));
  expect([error.message, received]).toEqual(['14 UNAVAILABLE: lost', []]);
});

test('a call that is held by a fault ends when the server closes', async () => {
  const { server, client } = await start();
  server.faults.add({ method: 'Double', effect: { kind: 'delay', delayMillis: 60_000 } });
  const held = code(unary(client.double.bind(client), seconds(1)));
  await expect.poll(() => server.requestCounts().Double).toBe(1);
  await server.close();
  expect(await held).toMatch(/CANCELLED|UNAVAILABLE/);
});
