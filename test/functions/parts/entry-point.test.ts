import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { http } from '@google-cloud/functions-framework';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ownBodies } from '../../../functions/bodies/own-bodies.ts';
import { type EntryPoint, entryPoint, startedOnce, withoutDomains } from '../../../functions/parts/entry-point.ts';

const activeDomain = (): unknown => (process as { readonly domain?: unknown }).domain;

let functions = 0;

/** An entry point under the functions framework; `seen` is called for each request before it is served. */
async function serve(entry: EntryPoint, seen: () => void = () => undefined): Promise<string> {
  withoutDomains();
  await ownBodies();
  const name = `entryPoint${(functions += 1)}`;
  http(name, (request, response) => {
    seen();
    entry.handle(request, response);
  });
  const server = getTestServer(name).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test('a request belongs to no domain of the framework: neither code, nor what waits, nor a timer', async () => {
  const domains: unknown[] = [];
  const note = (): void => void domains.push(activeDomain() ?? 'none');
  const entry = entryPoint(() =>
    Promise.resolve(async () => {
      note();
      await new Promise((done) => setTimeout(done, 1));
      note();
      return { status: 204 };
    }),
  );
  const url = await serve(entry, note);
  expect((await fetch(url, { method: 'POST' })).status).toBe(204);
  expect(domains).toEqual(['none', 'none', 'none']);
});

test.each(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])('%s starts nothing: 405 names POST', async (method) => {
  const handler = vi.fn(() => Promise.resolve({ status: 204 }));
  const response = await fetch(await serve(entryPoint(() => Promise.resolve(handler))), { method });
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  expect(handler).not.toHaveBeenCalled();
});

test.each<[string, EntryPoint]>([
  ['a handler that rejects', entryPoint(() => Promise.resolve(() => Promise.reject(new Error('its own'))))],
  ['a start that fails', entryPoint(() => Promise.reject(new Error('its own')))],
  [
    'what serves throws',
    startedOnce(
      () => Promise.resolve({}),
      () => {
        throw new Error('its own');
      },
    ),
  ],
  [
    'what serves rejects',
    startedOnce(
      () => Promise.resolve({}),
      () => Promise.reject(new Error('its own')),
    ),
  ],
])('%s is answered 500, without a stack', async (_name, entry) => {
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
  const url = await serve(entry);
  for (const attempt of [1, 2]) {
    const response = await fetch(url, { method: 'POST', body: 'body' });
    expect([attempt, response.status, await response.text()]).toEqual([attempt, 500, 'its own']);
  }
});
