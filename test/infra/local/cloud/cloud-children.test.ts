import { expect, test } from 'vitest';
import { ChildProcessError, startChild, untilChildAnswers } from '../../../../infra/local/base/child-process.ts';
import { answersTcp, freePort } from '../../../../infra/local/base/tcp.ts';

const node = (script: string): Parameters<typeof startChild>[0] => ({
  name: 'a child',
  command: process.execPath,
  args: ['-e', script],
});

test('no server and no function outlives the process that started it, even when that is killed', async () => {
  const addresses = Promise.withResolvers<string[]>();
  const parent = await startChild({
    name: 'the parent',
    command: process.execPath,
    args: [new URL('../run/fixtures/starts-children.ts', import.meta.url).pathname],
    onLine: (line) => {
      addresses.resolve(JSON.parse(line) as string[]);
    },
  });
  const servers = await addresses.promise;
  expect(await Promise.all(servers.map(answersTcp))).toEqual([true, true, true, true]);
  await parent.kill();
  await expect
    .poll(() => Promise.all(servers.map(answersTcp)), { timeout: 5000 })
    .toEqual([false, false, false, false]);
});

test('a child that ignores SIGTERM is killed after its grace', async () => {
  const ready = Promise.withResolvers<undefined>();
  const child = await startChild({
    ...node(`process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('ready')`),
    onLine: () => {
      ready.resolve(undefined);
    },
  });
  await ready.promise;
  expect(await child.stop(100)).toEqual({ code: null, signal: 'SIGKILL' });
  expect(child.isRunning).toBe(false);
});

test('a program that does not exist is an error with its cause', async () => {
  const failure = await startChild({ name: 'nothing', command: '/no/such/program', args: [] }).catch(
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(ChildProcessError);
  expect(String(failure)).toContain('nothing: /no/such/program could not be started');
});

test('a child that ends before it answers is an error with its last lines', async () => {
  const child = await startChild(node(`console.error('no licence'); process.exitCode = 3`));
  const waiting = untilChildAnswers(child, 'a child', `127.0.0.1:${await freePort()}`, 5000);
  await expect(waiting).rejects.toThrow(/a child ended with code 3 [^]*no licence/);
});

test('a child that never answers is killed at its limit', async () => {
  const child = await startChild(node('setInterval(() => {}, 1000)'));
  const waiting = untilChildAnswers(child, 'a child', `127.0.0.1:${await freePort()}`, 100);
  await expect(waiting).rejects.toThrow(/was not ready after 100 ms/);
  expect(child.isRunning).toBe(false);
});
