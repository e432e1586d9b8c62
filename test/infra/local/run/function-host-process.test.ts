import { afterEach, describe, expect, test } from 'vitest';
import { ChildProcessError } from '../../../../infra/local/base/child-process.ts';
import { startFunctionProcess, type FunctionProcess } from '../../../../infra/local/run/function-process.ts';
import { answersTcp } from '../../../../infra/local/base/tcp.ts';

const source = new URL('fixtures/greeter', import.meta.url).pathname;

interface Environment {
  readonly pid: number;
  readonly target: string;
  readonly mark?: string;
}

describe('a function in a functions-framework process of its own', () => {
  let running: FunctionProcess | undefined;
  const lines: string[] = [];
  const start = async (target: string, env: Record<string, string> = {}): Promise<FunctionProcess> =>
    (running = await startFunctionProcess(target, { source, env, onLine: (line) => lines.push(line) }));
  const environment = async (url: string): Promise<Environment> => (await (await fetch(url)).json()) as Environment;

  afterEach(async () => {
    await running?.kill();
    running = undefined;
    lines.length = 0;
  });

  test('answers as soon as it is started, with the environment it was given, and its log comes through', async () => {
    const { url, pid } = await start('environment', { MARK: 'blue' });
    expect(await environment(`${url}x`)).toEqual({ pid, target: 'environment', mark: 'blue' });
    await expect.poll(() => lines).toContain('asked for /x');
  });

  test('ends at SIGTERM and is restarted at the same address', async () => {
    const instance = await start('environment');
    const { pid } = instance;
    await instance.stop();
    expect(await answersTcp(new URL(instance.url).host)).toBe(false);
    await instance.restart();
    expect((await environment(instance.url)).pid).not.toBe(pid);
  });

  test('is killed in the middle of a request, and a restart while it runs is refused', async () => {
    const instance = await start('linger');
    await expect(instance.restart()).rejects.toThrow(/stop or kill it first/);
    const answer = fetch(`${instance.url}?millis=5000`).then(
      () => 'answered',
      () => 'cut off',
    );
    await expect.poll(() => answersTcp(new URL(instance.url).host)).toBe(true);
    expect(await instance.kill()).toEqual({ code: null, signal: 'SIGKILL' });
    expect(await answer).toBe('cut off');
  });

  test('a function that does not exist is an error that shows what the framework said', async () => {
    const failure = await start('nobody').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ChildProcessError);
    expect(String(failure)).toMatch(/nobody ended with code 1 [^]*'nobody' is not defined/);
  });
});
