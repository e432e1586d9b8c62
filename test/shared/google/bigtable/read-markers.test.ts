import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../../../shared/base/clock.ts';
import { dataMethod } from '../../../../shared/google/bigtable/call.ts';
import { ClientPool } from '../../../../shared/google/bigtable/clients.ts';
import { createReadMarkers } from '../../../../shared/google/bigtable/read-markers.ts';
import type { MarkerReply } from '../../../../shared/markers/ports.ts';
import { tableName } from '../../../../shared/model/table-name.ts';
import {
  ReadRowsRequest,
  ReadRowsResponse,
  type ReadRowsResponse_CellChunk,
} from '../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import { testRuntime } from '../../../support/runtime.ts';
import { type BytesCall, serveBytes } from '../../../support/bytes-server.ts';

/** What a server may say of a row, in whatever pieces; the embedded server and Google's emulator are asked by the contract. */

const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** The reply to what a server does with the call. */
async function replyTo(handle: (call: BytesCall) => void, timeoutMillis = 5000): Promise<MarkerReply> {
  const { address, close } = await serveBytes(handle, dataMethod('ReadRows'));
  const limits = { maxActiveInstances: 1, destinationIdleTimeoutMillis: 3_600_000 };
  const pool = new ClientPool({ ...limits, emulatorEndpoint: address }, testRuntime({ clock: systemClock }));
  closers.push(() => {
    pool.close();
  }, close);
  return createReadMarkers(pool)({
    table: tableName('p', 'i', 't'),
    appProfileId: 'one',
    rowKey: Buffer.from('row'),
    family: 'markers',
    identities: ['a', 'b', 'c'],
    timeoutMillis,
  });
}

const chunk = (given: Partial<ReadRowsResponse_CellChunk>): ReadRowsResponse_CellChunk => ({
  rowKey: Buffer.alloc(0),
  familyName: undefined,
  qualifier: undefined,
  timestampMicros: 0n,
  labels: [],
  value: Buffer.alloc(0),
  valueSize: 0,
  rowStatus: undefined,
  ...given,
});

const FIRST = { rowKey: Buffer.from('row'), familyName: 'markers' };
const marker = (name: string, given: Partial<ReadRowsResponse_CellChunk> = {}): ReadRowsResponse_CellChunk =>
  chunk({ qualifier: Buffer.from(name), ...given });
const COMMIT = { rowStatus: { $case: 'commitRow' as const, value: true } };
const RESET = chunk({ rowStatus: { $case: 'resetRow', value: true } });

/** Sends messages of these chunks and ends. */
const says =
  (...messages: readonly (readonly ReadRowsResponse_CellChunk[])[]) =>
  (call: BytesCall): void => {
    for (const chunks of messages) {
      const response = { chunks: [...chunks], lastScannedRowKey: Buffer.alloc(0), requestStats: undefined };
      call.write(Buffer.from(ReadRowsResponse.encode(response).finish()));
    }
    call.end();
  };

const present = (...names: readonly string[]): MarkerReply => ({ kind: 'answered', present: new Set(names) });

test('asks for one row, in the profile of the writes, for the names of these columns alone', async () => {
  const requests: ReadRowsRequest[] = [];
  await replyTo((call) => {
    requests.push(ReadRowsRequest.decode(call.request));
    call.end();
  });
  expect(requests).toMatchObject([
    {
      tableName: 'projects/p/instances/i/tables/t',
      appProfileId: 'one',
      rows: { rowKeys: [Buffer.from('row')], rowRanges: [] },
      rowsLimit: 1n,
      filter: {
        filter: {
          $case: 'chain',
          value: {
            filters: [
              { filter: { $case: 'familyNameRegexFilter', value: 'markers' } },
              { filter: { $case: 'columnQualifierRegexFilter', value: Buffer.from('a|b|c') } },
              { filter: { $case: 'stripValueTransformer', value: true } },
            ],
          },
        },
      },
    },
  ]);
});

test.each<[string, (call: BytesCall) => void, MarkerReply]>([
  ['no row', says(), present()],
  ['a row in one message', says([marker('a', FIRST), marker('c', COMMIT)]), present('a', 'c')],
  ['a row over several messages', says([marker('a', FIRST)], [marker('b')], [chunk(COMMIT)]), present('a', 'b')],
  [
    'several versions of a column, and a value in pieces',
    says([marker('a', { ...FIRST, value: Buffer.from('1'), valueSize: 2 }), chunk({}), chunk({}), marker('b', COMMIT)]),
    present('a', 'b'),
  ],
  [
    'a row that begins again',
    says([marker('a', FIRST), marker('b')], [RESET, marker('c', { ...FIRST, ...COMMIT })]),
    present('c'),
  ],
])('tells what is there of %s', async (_what, handle, reply) => {
  expect(await replyTo(handle)).toEqual(reply);
});

test.each<[string, (call: BytesCall) => void, string]>([
  ['a row without an end', says([marker('a', FIRST)]), 'INTERNAL'],
  [
    'a status after a part of the row',
    (call) => {
      const chunks = [marker('a', { ...FIRST, ...COMMIT })];
      const response = { chunks, lastScannedRowKey: Buffer.alloc(0), requestStats: undefined };
      call.write(Buffer.from(ReadRowsResponse.encode(response).finish()));
      call.emit('error', { code: 14, details: 'gone' });
    },
    'UNAVAILABLE',
  ],
  [
    'bytes that are no answer',
    (call) => {
      call.write(Buffer.from([0xff]));
      call.end();
    },
    'INTERNAL',
  ],
])('is no answer where there is %s', async (_what, handle, code) => {
  expect(await replyTo(handle)).toMatchObject({ kind: 'failed', status: { code } });
});

test('ends with its time', async () => {
  expect(await replyTo(() => undefined, 50)).toMatchObject({ kind: 'failed', status: { code: 'DEADLINE_EXCEEDED' } });
});
