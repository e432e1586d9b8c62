import { fileURLToPath } from 'node:url';
import { ChildProcessError, startChild, type Child } from '../../../infra/local/base/child-process.ts';

const END_WITH_PARENT = new URL('../../../infra/local/base/end-with-parent.ts', import.meta.url).href;

/** Starts a program of ours with one JSON argument. It ends with this process, however this one ends. */
export function startProgram(
  program: URL | string,
  argument: unknown,
  onMessage: (message: unknown) => void,
): Promise<Child> {
  const path = typeof program === 'string' ? program : fileURLToPath(program);
  return startChild({
    name: path,
    command: process.execPath,
    args: ['--import', END_WITH_PARENT, path, JSON.stringify(argument)],
    env: { METADATA_SERVER_DETECTION: 'none' },
    onMessage,
  });
}

/** Runs a program to its end and returns the one message that it sent. Rejects with its last lines when it failed. */
export async function runProgram<Result>(program: URL | string, argument: unknown): Promise<Result> {
  const messages: unknown[] = [];
  const child = await startProgram(program, argument, (message) => messages.push(message));
  const { code, signal } = await child.exited;
  if (code !== 0 || messages.length !== 1) {
    const ending = `${String(program)} ended with ${signal ?? `code ${String(code)}`}`;
    throw new ChildProcessError([`${ending} and ${messages.length} results:`, ...child.lastLines()].join('\n  '));
  }
  return messages[0] as Result;
}

/** The argument of this program. */
export const programArgument = (): unknown => JSON.parse(process.argv[2] ?? '');

/** Tells whoever started this program. */
export const tellStarter = (message: unknown): void => {
  process.send?.(message);
};

/** Hands over the result and ends this program: what its clients keep for later is not waited for. */
export function endWith(result: unknown): void {
  process.send?.(result, () => process.exit());
}
