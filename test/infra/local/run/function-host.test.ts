import { afterEach, describe, expect, test } from 'vitest';
import { parseRoute, startFunctionHost, type FunctionHost } from '../../../../infra/local/run/function-host.ts';
import { answersTcp } from '../../../../infra/local/base/tcp.ts';

const source = new URL('fixtures/greeter', import.meta.url).pathname;

describe('the host that serves all functions in one process', () => {
  let host: FunctionHost | undefined;
  afterEach(async () => {
    await host?.drain(0);
    host = undefined;
  });

  test('serves each function under its name, and the function sees its own path', async () => {
    host = await startFunctionHost({ source });
    const greeting = await fetch(`${host.url('greet')}/projects/p?x=1`);
    expect([greeting.status, await greeting.text()]).toEqual([200, 'hello /projects/p']);
    expect((await fetch(host.url('environment'))).status).toBe(200);
  });

  test.each(['/', '/fn/', '/fn/nobody', '/greet'])('answers 404 at %s', async (path) => {
    host = await startFunctionHost({ source });
    const response = await fetch(new URL(path, host.url('greet')));
    expect([response.status, await response.text()]).toEqual([404, expect.stringContaining('/fn/<name>')]);
  });

  test('a drain lets a request in flight finish, then frees the port', async () => {
    host = await startFunctionHost({ source });
    const answer = fetch(`${host.url('linger')}?millis=150`).then((response) => response.status);
    await fetch(host.url('greet'));
    await host.drain();
    expect(await answer).toBe(200);
    expect(await answersTcp(`127.0.0.1:${host.port}`)).toBe(false);
  });

  test('a drain cuts off what outlasts its grace', async () => {
    host = await startFunctionHost({ source });
    const answer = fetch(`${host.url('linger')}?millis=700`).then(
      () => 'answered',
      () => 'cut off',
    );
    await fetch(host.url('greet'));
    await host.drain(50);
    expect(await answer).toBe('cut off');
  });
});

test.each([
  ['/fn/bulkSink', { name: 'bulkSink', rest: '/' }],
  ['/fn/bulkSink/projects/p', { name: 'bulkSink', rest: '/projects/p' }],
  ['/fn/bulkSink?a=b', { name: 'bulkSink', rest: '/?a=b' }],
  ['/fn/..%2f', undefined],
])('the route of %s', (url, expected) => {
  expect(parseRoute(url)).toEqual(expected);
});
