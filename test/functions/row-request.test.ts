import { describe, expect, test } from 'vitest';
import { CONTENT_TYPES, decodeRowResult, encodeRowRequestDocument } from '../../shared/single-row/forms/documents.ts';
import { readRows } from '../support/bigtable-raw-client.ts';
import { conditional, increment } from '../support/row-requests.ts';
import { type RowRequestHarness, startRowRequests } from '../support/row-request-harness.ts';
import { TABLE } from '../support/sink-harness.ts';

/** `rowRequest` with real edges: HTTP at the functions framework, gRPC to an embedded Bigtable. */

const INCREMENT = {
  version: 1,
  correlationId: 'c',
  readModifyWrite: { rowKey: 'k', rules: [{ increment: { family: 'f', qualifier: 'q', amount: '2' } }] },
};
const cellsOf = async ({ client }: RowRequestHarness): Promise<string[]> => {
  const [row] = await readRows(client, TABLE);
  return row?.cells.map((cell) => cell.replace(/@\d+/, '')) ?? [];
};
const errorOf = async (response: Response): Promise<unknown> => ((await response.json()) as { error: unknown }).error;

/** Waits for what has no answer of its own. */
const until = (isTrue: () => boolean): Promise<void> => expect.poll(isTrue, { timeout: 5000, interval: 5 }).toBe(true);
const counted = ({ logs }: RowRequestHarness, metric: string): number =>
  logs.reduce((sum, { metrics }) => sum + ((metrics as Record<string, number> | undefined)?.[metric] ?? 0), 0);

describe('a row request over HTTP', () => {
  test('increments a counter and gets its value back', async () => {
    await using rows = await startRowRequests();
    await rows.ask(INCREMENT);
    const response = await rows.ask(INCREMENT, { headers: { 'x-request-id': 'mine' } });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json\b/);
    expect(response.headers.get('x-request-id')).toBe('mine');
    expect(await response.json()).toMatchObject({
      correlationId: 'c',
      table: 'p.i.t',
      rowKey: 'k',
      outcome: { readModifyWrite: { cells: [{ family: 'f', qualifier: 'q', value: { int64: '4' } }] } },
    });
    expect(counted(rows, 'requestsCompleted')).toBe(2);
  });

  test('is taken and answered in proto too', async () => {
    await using rows = await startRowRequests();
    const body = encodeRowRequestDocument({ request: conditional({}) }, 'proto');
    const response = await rows.ask(body, {
      headers: { 'content-type': CONTENT_TYPES.proto, accept: CONTENT_TYPES.proto },
    });
    const result = decodeRowResult(Buffer.from(await response.arrayBuffer()), CONTENT_TYPES.proto);
    expect(result.correlationId).toMatch(/^[0-9a-f]{32}$/);
    expect(result.outcome).toEqual({
      kind: 'conditional',
      predicateMatched: false,
      selectedBranch: 'otherwise',
      selectedBranchHasMutations: true,
    });
    expect(await cellsOf(rows)).toEqual(['f:q=v']);
  });

  test('is read as JSON whatever else its content type says', async () => {
    await using rows = await startRowRequests();
    const body = JSON.stringify(INCREMENT);
    for (const contentType of ['text/plain', 'application/x-www-form-urlencoded', 'application/octet-stream']) {
      expect((await rows.ask(body, { headers: { 'content-type': contentType } })).status).toBe(200);
    }
  });

  test('that is refused is answered with the reason, under an id that is made up', async () => {
    await using rows = await startRowRequests();
    const get = await fetch(rows.url);
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
    const invalid = await rows.ask({ ...INCREMENT, version: 3 });
    expect(invalid.status).toBe(400);
    const requestId = invalid.headers.get('x-request-id');
    expect(requestId).toMatch(/^[0-9a-f]{32}$/);
    expect(await errorOf(invalid)).toMatchObject({
      requestId,
      problems: [{ path: 'version', message: 'must be 1, got 3' }],
    });
    const missing = await rows.ask({ ...INCREMENT, table: 'missing' });
    expect([missing.status, await errorOf(missing)]).toMatchObject([502, { code: 'missing-table', mayHaveApplied: false }]);
    // A counter that is no counter: Bigtable refuses the request itself.
    await rows.ask(encodeRowRequestDocument({ request: conditional({}) }, 'json'));
    const refused = await rows.ask(INCREMENT);
    expect([refused.status, await errorOf(refused)]).toMatchObject([422, { code: 'refused', mayHaveApplied: false }]);
  }); // prettier-ignore

  test('whose answer is lost is not sent again: the caller is told that it may have applied, as it has', async () => {
    await using rows = await startRowRequests();
    const lost = { kind: 'lose-answer', status: { code: 'UNAVAILABLE', message: 'lost' } } as const;
    rows.bigtable.faults.add({ method: 'ReadModifyWriteRow', effect: lost });
    const response = await rows.ask(INCREMENT);
    expect(response.status).toBe(502);
    const error = (await errorOf(response)) as { message: string };
    expect(error).toMatchObject({ code: 'ambiguous', mayHaveApplied: true });
    expect(error.message).toContain('may or may not be applied');
    expect(await cellsOf(rows)).toEqual(['f:q=\0\0\0\0\0\0\0\x02']);
  });

  test('that takes longer than requestTimeout is answered 504', async () => {
    await using rows = await startRowRequests({ requestOptions: { requestTimeout: '50ms' } });
    rows.bigtable.faults.add({ method: 'ReadModifyWriteRow', effect: { kind: 'never-answer', isApplied: true } });
    const response = await rows.ask(INCREMENT);
    expect([response.status, await errorOf(response)]).toMatchObject([504, { code: 'ambiguous', mayHaveApplied: true }]);
  }); // prettier-ignore

  test('that finds maxInFlightRequests out is answered 429 at once', async () => {
    await using rows = await startRowRequests({ requestOptions: { maxInFlightRequests: 1, requestTimeout: '300ms' } });
    const rule = rows.bigtable.faults.add({
      method: 'ReadModifyWriteRow',
      effect: { kind: 'never-answer', isApplied: false },
    });
    const first = rows.ask(INCREMENT);
    await until(() => rule.hits === 1);
    const second = await rows.ask(INCREMENT);
    expect([second.status, second.headers.get('retry-after')]).toEqual([429, '1']);
    expect((await first).status).toBe(504);
  });

  test('whose caller leaves is cancelled at the service, and counted', async () => {
    await using rows = await startRowRequests();
    const effect = { kind: 'never-answer', isApplied: true } as const;
    const rule = rows.bigtable.faults.add({ method: 'ReadModifyWriteRow', effect });
    const caller = new AbortController();
    const asked = rows.ask(INCREMENT, { signal: caller.signal });
    await until(() => rule.hits === 1);
    caller.abort();
    await expect(asked).rejects.toThrow();
    // Long before requestTimeout, which is 20 s.
    await until(() => counted(rows, 'callersGone') === 1);
    expect(counted(rows, 'requestsFailed')).toBe(1);
    expect(rows.logs).toContainEqual(expect.objectContaining({ code: 'ambiguous', status: 502 }));
  });

  test('that comes while the instance drains is answered 503, and one that is out is answered as ever', async () => {
    await using rows = await startRowRequests();
    const rule = rows.bigtable.faults.add({
      method: 'ReadModifyWriteRow',
      effect: { kind: 'delay', delayMillis: 200 },
    });
    const first = rows.ask(INCREMENT);
    await until(() => rule.hits === 1);
    const ended = rows.terminate();
    const late = await rows.ask(INCREMENT);
    expect([late.status, await errorOf(late)]).toMatchObject([503, { code: 'draining', mayHaveApplied: false }]);
    expect((await first).status).toBe(200);
    expect(await ended).toBe(0);
  });

  test('that names itself is applied once with replay protection, however often it is sent', async () => {
    await using rows = await startRowRequests({ replayProtection: { markerFamily: 'm' } });
    const document = encodeRowRequestDocument({ request: conditional({}), correlationId: 'order 7' }, 'json');
    const answers = [await rows.ask(document), await rows.ask(document)];
    expect(await Promise.all(answers.map((answer) => answer.json()))).toMatchObject([
      { correlationId: 'order 7', outcome: { conditional: { predicateMatched: false } } },
      { correlationId: 'order 7', mayBeReplayed: true },
    ]);
    const counter = encodeRowRequestDocument({ request: increment(), correlationId: 'order 8' }, 'json');
    expect((await rows.ask(counter)).status).toBe(422);
  });
});
