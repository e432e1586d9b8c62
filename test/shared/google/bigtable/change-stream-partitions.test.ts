import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ListPartitions } from '../../../../shared/change-stream/reading/ports.ts';
import { wirePartition } from '../../../../shared/change-stream/reading/wire-rules.ts';
import { createListPartitions } from '../../../../shared/google/bigtable/change-stream-partitions.ts';
import { ClientPool } from '../../../../shared/google/bigtable/clients.ts';
import { formatRange } from '../../../../shared/model/row-range.ts';
import { tableName } from '../../../../shared/model/table-name.ts';
import {
  GenerateInitialChangeStreamPartitionsRequest,
  GenerateInitialChangeStreamPartitionsResponse,
} from '../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { StreamPartition } from '../../../../shared/proto/google/bigtable/v2/data.ts';
import { type BytesCall, serveBytes } from '../../../support/bytes-server.ts';
import { rangeOf } from '../../../support/change-messages.ts';
import { testRuntime } from '../../../support/runtime.ts';
import { SteppedClock } from '../../../support/stepped-clock.ts';

const T = tableName('p', 'i', 't');
const { signal } = new AbortController();

let server: Awaited<ReturnType<typeof serveBytes>>;
let pool: ClientPool;
let clock: SteppedClock;
let list: ListPartitions;
/** How the calls of a test are answered, one after the other; the last of them again and again. */
let answers: ((call: BytesCall) => void)[];
let requests: Buffer[];

beforeAll(async () => {
  server = await serveBytes((call) => {
    requests.push(call.request);
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    answer?.(call);
  }, '/google.bigtable.v2.Bigtable/GenerateInitialChangeStreamPartitions');
  clock = new SteppedClock();
  pool = new ClientPool(
    { maxActiveInstances: 1, destinationIdleTimeoutMillis: 36_000_000, emulatorEndpoint: server.address },
    testRuntime({ clock }),
  );
  list = createListPartitions(pool, { clock, random: () => 0.5 });
});

beforeEach(() => {
  requests = [];
});

afterAll(() => {
  pool.close();
  server.close();
});

const tell =
  (...partitions: readonly StreamPartition[]) =>
  (call: BytesCall): void => {
    for (const partition of partitions) {
      call.write(Buffer.from(GenerateInitialChangeStreamPartitionsResponse.encode({ partition }).finish()));
    }
    call.end();
  };

const fail =
  (code: status, ...partitions: readonly StreamPartition[]) =>
  (call: BytesCall): void => {
    for (const partition of partitions) {
      call.write(Buffer.from(GenerateInitialChangeStreamPartitionsResponse.encode({ partition }).finish()));
    }
    call.emit('error', { code, details: 'for the test' });
  };

/** Lets time pass until the listing has ended. */
async function settled(listing: Promise<unknown>): Promise<unknown> {
  const over = new AbortController();
  const ending = listing
    .catch((error: unknown) => error)
    .finally(() => {
      over.abort();
    });
  while (!over.signal.aborted) {
    await clock.advance(1000);
    await new Promise(setImmediate);
  }
  return ending;
}

test('partitions are ranges from a closed to an open bound, in which an empty key or none at all is no bound', async () => {
  answers = [
    tell(
      { rowRange: { startKey: undefined, endKey: { $case: 'endKeyOpen', value: Buffer.from('g') } } },
      wirePartition(rangeOf('g', 'p')),
      wirePartition(rangeOf('p', '')),
    ),
  ];
  const partitions = await list(T, 'one', signal);
  expect(partitions.map(formatRange)).toEqual(['(*, g)', '[g, p)', '[p, *)']);
  expect(partitions).toEqual([rangeOf('', 'g'), rangeOf('g', 'p'), rangeOf('p', '')]);
  expect(requests.map((request) => GenerateInitialChangeStreamPartitionsRequest.decode(request))).toEqual([
    { tableName: 'projects/p/instances/i/tables/t', appProfileId: 'one' },
  ]);
});

test('a service that cannot be reached is asked again, and nothing of a list that was cut is used', async () => {
  const whole = wirePartition(rangeOf('', ''));
  answers = [fail(status.UNAVAILABLE, whole), fail(status.DEADLINE_EXCEEDED), fail(status.ABORTED), tell(whole)];
  expect(await settled(list(T, '', signal))).toEqual([rangeOf('', '')]);
  expect(requests).toHaveLength(4);
});

test('ten attempts later it is given up, and the error says what was asked of which table', async () => {
  answers = [fail(status.UNAVAILABLE)];
  expect(await settled(list(T, '', signal))).toMatchObject({
    name: 'StreamFailedError',
    failure: 'status',
    status: { code: 'UNAVAILABLE' },
    message: 'GenerateInitialChangeStreamPartitions of p.i.t ended with UNAVAILABLE: for the test',
  });
  expect(requests).toHaveLength(10);
});

test('a refusal that stays is not repeated', async () => {
  answers = [fail(status.FAILED_PRECONDITION)];
  await expect(list(T, '', signal)).rejects.toMatchObject({ status: { code: 'FAILED_PRECONDITION' } });
  expect(requests).toHaveLength(1);
});

test('a partition that is no range from a closed to an open bound is refused with the whole list', async () => {
  answers = [
    tell(wirePartition(rangeOf('', 'c')), {
      rowRange: { startKey: { $case: 'startKeyOpen', value: Buffer.from('c') }, endKey: undefined },
    }),
  ];
  await expect(list(T, '', signal)).rejects.toMatchObject({ failure: 'protocol', status: { code: 'INTERNAL' } });
  expect(requests).toHaveLength(1);
});

test('a signal ends the wait between two attempts, with its reason', async () => {
  answers = [fail(status.UNAVAILABLE)];
  const controller = new AbortController();
  const listing = list(T, '', controller.signal);
  listing.catch(() => undefined);
  while (clock.pending === 0) await new Promise(setImmediate);
  const reason = new Error('drained');
  controller.abort(reason);
  await expect(listing).rejects.toBe(reason);
  expect(clock.pending).toBe(0);
});
