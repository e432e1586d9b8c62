import { describe, expect, test } from 'vitest';
import { RedeliverError } from '../../../../shared/base/errors.ts';
import type { RowRequest } from '../../../../shared/model/row-request.ts';
import { formatTableName, type TableName } from '../../../../shared/model/table-name.ts';
import { decodeRowResult } from '../../../../shared/single-row/forms/documents.ts';
import {
  answerHttp,
  type HttpRequest,
  MAX_BODY_BYTES,
  type RowService,
} from '../../../../shared/single-row/http/answer.ts';
import type { ReplayProtection } from '../../../../shared/single-row/delivery.ts';
import type { Outcome } from '../../../../shared/single-row/outcome.ts';
import { testRuntime } from '../../../support/runtime.ts';
import type { ExecuteOptions } from '../../../../shared/single-row/ports.ts';

interface Executed extends ExecuteOptions {
  readonly table: TableName;
  readonly request: RowRequest;
}

/** A service whose executor gives this outcome, or throws it. */
function serving(outcome: Outcome | Error, more: Partial<RowService> = {}) {
  const executed: Executed[] = [];
  const runtime = testRuntime();
  const { lines } = runtime;
  const service: RowService = {
    pipeline: 'rows',
    executor: {
      execute(table, request, options) {
        executed.push({ table, request, ...options });
        return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome);
      },
    },
    destination: { table: { project: 'p', instance: 'i', table: 't' }, home: { project: 'p', instance: 'i' } },
    mayName: () => true,
    emptyBranchPolicy: 'ignore',
    runtime,
    ...more,
  };
  const ask = async (document: unknown, request: Partial<HttpRequest> = {}) => {
    const answer = await answerHttp(
      {
        method: 'POST',
        requestId: 'r-1',
        signal: new AbortController().signal,
        body: Buffer.from(typeof document === 'string' ? document : JSON.stringify(document)),
        ...request,
      },
      service,
    );
    return { ...answer, json: () => JSON.parse(answer.body.toString()) as Record<string, unknown> };
  };
  return { ask, executed, lines };
}

const INCREMENT = {
  version: 1,
  readModifyWrite: { rowKey: 'secret-row', rules: [{ increment: { family: 'f', qualifier: 'q', amount: 1 } }] },
};
const CONDITIONAL = { version: 1, conditional: { rowKey: 'k', otherwise: [{ deleteFromRow: {} }] } };

const counted = (value: bigint): Outcome => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  const cell = { family: 'f', qualifier: Buffer.from('q'), timestampMicros: 7n, value: bytes, labels: [] };
  return { kind: 'answered', answer: { kind: 'readModifyWrite', cells: [cell] }, isEmptyBranch: false };
};
const decided = (predicateMatched: boolean, more: object = {}): Outcome => ({
  kind: 'answered',
  answer: { kind: 'conditional', predicateMatched },
  isEmptyBranch: predicateMatched,
  ...more,
});

describe('a request that is answered', () => {
  test('gets its result, in JSON, under its request id', async () => {
    const { ask, executed } = serving(counted(5n));
    const answer = await ask(INCREMENT);
    expect(answer).toMatchObject({
      status: 200,
      headers: { 'content-type': 'application/json', 'x-request-id': 'r-1' },
    });
    expect(answer.json()).toEqual({
      version: 1,
      correlationId: 'r-1',
      table: 'p.i.t',
      rowKey: 'secret-row',
      outcome: {
        readModifyWrite: {
          cells: [{ family: 'f', qualifier: 'q', timestampMicros: '7', value: { int64: '5' } }],
        },
      },
    });
    expect(executed[0]).toMatchObject({ wait: false });
    expect(executed[0]).not.toHaveProperty('marker');
  });

  test('gets it in proto where it accepts that', async () => {
    const answer = await serving(decided(false)).ask(CONDITIONAL, { accept: 'application/x-protobuf, */*' });
    expect(answer.headers['content-type']).toBe('application/x-protobuf');
    expect(decodeRowResult(answer.body, 'application/x-protobuf')).toMatchObject({
      outcome: { predicateMatched: false, selectedBranch: 'otherwise', selectedBranchHasMutations: true },
    });
  });

  test('keeps its correlation id and goes to the table that it names', async () => {
    const { ask, executed } = serving(decided(false));
    const answer = await ask({ ...CONDITIONAL, table: 'other', correlationId: 'order 7' });
    expect(answer.json()).toMatchObject({ table: 'p.i.other', correlationId: 'order 7' });
    expect(executed.map(({ table }) => formatTableName(table))).toEqual(['p.i.other']);
  });

  test('is told that it was applied before', async () => {
    const { ask } = serving(decided(false, { replayed: true }));
    expect((await ask(CONDITIONAL)).json()).toMatchObject({ replayed: true });
  });
});

/** Markers in this family; a table is unfit for them as long as there is a reason. */
const markersIn = (markerFamily: string, reason?: 'missing-table'): ReplayProtection => ({
  markerFamily,
  check: () => Promise.resolve(reason && new RedeliverError(reason, 'unfit')),
});

const status = { code: 'UNAVAILABLE', message: 'words of the service' } as const;

describe('a request without a result is answered by', () => {
  test.each<[number, string, boolean, Outcome]>([
    [422, 'refused', false, { kind: 'rejected', status: { code: 'INVALID_ARGUMENT', message: 'w' }, message: 'm' }],
    [504, 'ambiguous', true, { kind: 'ambiguous', status, message: 'm', isTimeout: true }],
    [502, 'ambiguous', true, { kind: 'ambiguous', status, message: 'm', isTimeout: false }],
    [429, 'busy', false, { kind: 'busy' }],
    [504, 'deadline', false, { kind: 'fatal', reason: 'deadline', message: 'm' }],
    [503, 'client', false, { kind: 'fatal', reason: 'client', message: 'm' }],
    [503, 'transient', false, { kind: 'fatal', reason: 'transient', status: { code: 'RESOURCE_EXHAUSTED', message: 'w' }, message: 'm' }],
    [503, 'draining', true, { kind: 'fatal', reason: 'draining', message: 'm' }],
    [502, 'missing-table', false, { kind: 'fatal', reason: 'missing-table', status: { code: 'NOT_FOUND', message: 'w' }, message: 'm' }],
    [500, 'refused', false, { kind: 'fatal', reason: 'refused', status: { code: 'PERMISSION_DENIED', message: 'w' }, message: 'm' }],
    [500, 'refused', true, { kind: 'fatal', reason: 'refused', status: { code: 'INTERNAL', message: 'w' }, message: 'm' }],
  ])('%i %s, and whether it may have applied: %s', async (expected, code, mayHaveApplied, outcome) => {
    const answer = await serving(outcome).ask(INCREMENT);
    expect(answer.status).toBe(expected);
    expect(answer.json()).toMatchObject({ error: { code, mayHaveApplied, requestId: 'r-1' } });
    expect(answer.headers['retry-after']).toBe(expected === 429 || expected === 503 ? '1' : undefined);
  }); // prettier-ignore

  test('409 when an empty branch was selected and the pipeline does not ignore that', async () => {
    const { ask } = serving(decided(true), { emptyBranchPolicy: 'fail' });
    const answer = await ask(CONDITIONAL);
    expect([answer.status, answer.json()]).toMatchObject([409, { error: { code: 'empty-branch', mayHaveApplied: false } }]);
    expect((await serving(decided(true)).ask(CONDITIONAL)).status).toBe(200);
  }); // prettier-ignore

  test('400 with every problem, and nothing is executed', async () => {
    const { ask, executed } = serving(counted(1n));
    const answer = await ask({ version: 1, table: '', readModifyWrite: { rowKey: '', rules: [] } });
    expect(answer.status).toBe(400);
    expect(answer.json()).toEqual({
      error: {
        code: 'invalid-request',
        message: 'the request has 3 problems',
        mayHaveApplied: false,
        requestId: 'r-1',
        problems: [
          { path: 'table', message: expect.stringContaining('must be the id of a table') as string },
          { path: 'readModifyWrite.rowKey', message: 'must not be empty, got no byte' },
          { path: 'readModifyWrite.rules', message: 'must hold at least one rule, got none' },
        ],
      },
    });
    expect(executed).toEqual([]);
  });

  test.each([
    ['without any table', {}, {}, 'is required, for the pipeline names no table'],
    ['with a bare table and no instance', { table: 't' }, {}, 'must be project.instance.table or projects/…/instances/…/tables/…, for the pipeline names no instance, got another text'],
    ['with a text that is the id of a table as well as an address', { table: 'orders.eu.0131' }, { home: { project: 'p', instance: 'i' } }, 'must be the id of a table of p.i, or projects/…/instances/…/tables/… of one elsewhere, got another text'],
  ])('400 %s', async (_name, members, destination, message) => {
    const answer = await serving(counted(1n), { destination }).ask({ ...INCREMENT, ...members });
    expect([answer.status, answer.json()]).toMatchObject([400, { error: { problems: [{ path: 'table', message }] } }]);
  }); // prettier-ignore

  test('405 when it is no POST', async () => {
    const answer = await serving(counted(1n)).ask(INCREMENT, { method: 'GET' });
    expect(answer).toMatchObject({ status: 405, headers: { allow: 'POST' } });
  });

  test('413 when it is larger than what Pub/Sub would take', async () => {
    const { ask } = serving(counted(1n));
    expect((await ask(INCREMENT, { body: Buffer.alloc(MAX_BODY_BYTES + 1) })).status).toBe(413);
    expect((await ask(INCREMENT, { body: Buffer.alloc(MAX_BODY_BYTES) })).status).toBe(400);
  });

  test('500 when something breaks, and then nobody knows', async () => {
    const answer = await serving(new Error('broken')).ask(INCREMENT);
    expect([answer.status, answer.json()]).toMatchObject([500, { error: { code: 'unexpected', mayHaveApplied: true } }]);
  }); // prettier-ignore
});

test('with replay protection the correlation id is what a replay is known by', async () => {
  const { ask, executed } = serving(decided(false), { protection: markersIn('m') });
  for (const correlationId of ['a', 'a', 'b']) await ask({ ...CONDITIONAL, correlationId });
  const [first, again, other] = executed.map(({ marker }) => marker);
  expect(first).toEqual({ family: 'm', identity: expect.stringMatching(/^[0-9a-f]{32}$/) as string });
  expect(again).toEqual(first);
  expect(other).not.toEqual(first);
  const answer = await ask(CONDITIONAL);
  expect([answer.status, answer.json()]).toMatchObject([400, { error: { problems: [{ path: 'correlationId' }] } }]);
  expect(executed).toHaveLength(3);
});

test('a table that cannot hold markers is told before anything is sent', async () => {
  const { ask, executed } = serving(decided(false), { protection: markersIn('m', 'missing-table') });
  const answer = await ask({ ...CONDITIONAL, correlationId: 'a' });
  expect([answer.status, answer.json()]).toMatchObject([502, { error: { code: 'missing-table', mayHaveApplied: false } }]);
  expect(executed).toEqual([]);
}); // prettier-ignore

test('the log says what went wrong under the request id, and holds no row key and none of the service’s words', async () => {
  const refused = { code: 'INVALID_ARGUMENT', message: 'bad row secret-row' } as const;
  const { ask, lines } = serving({ kind: 'rejected', status: refused, message: 'refused' });
  const answer = await ask(INCREMENT);
  expect(answer.json()).toMatchObject({ error: { detail: 'bad row secret-row' } });
  await ask({ ...INCREMENT, readModifyWrite: { rowKey: 'secret-row', rules: ['secret-row'] } });
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { severity: 'WARNING', requestId: 'r-1', status: 422, code: 'refused' },
    { severity: 'WARNING', requestId: 'r-1', status: 400, problems: ['readModifyWrite.rules[0]'] },
  ]);
  expect(lines.join()).not.toContain('secret-row');
});
