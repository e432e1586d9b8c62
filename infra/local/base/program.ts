import type { Command } from 'commander';
import { ConnectorError } from '../../../shared/base/errors.ts';
import { usageLine } from '../../../shared/base/usage-line.ts';
import { LocalCloudError } from './local-error.ts';

/** What the programs of the local cloud do alike: they read their arguments, end at Ctrl-C, and tell of a failure. */

/** The command line is wrong: nothing was begun. */
const USAGE_EXIT = 2;

/**
 * Makes a program tell of a wrong command line in one line, with the nearest name that it knows, and end with exit code 2.
 * Help ends with 0. Call it once every command and option is declared.
 */
export function tellsUsage(program: Command): Command {
  program
    .configureOutput({
      outputError: (text, write) => {
        write(usageLine(text));
      },
    })
    .exitOverride(({ exitCode }) => {
      process.exit(exitCode === 0 ? 0 : USAGE_EXIT);
    });
  for (const command of program.commands) command.copyInheritedSettings(program);
  return program;
}

/**
 * Runs a program by the arguments of this process. A failure is told and makes the exit code 1, a wrong command line 2.
 *
 * @param whatFailed begins the message of a failure.
 */
export async function runProgram(program: Command, whatFailed = ''): Promise<void> {
  // The clients would look for Google's metadata server, which is not here.
  process.env.METADATA_SERVER_DETECTION = 'none';
  try {
    await tellsUsage(program).parseAsync();
  } catch (error) {
    process.stderr.write(`${whatFailed}${failureText(error)}\n`);
    process.exitCode = 1;
  }
}

/** A signal that aborts at the first Ctrl-C or SIGTERM; the second one ends this process, and its children with it. */
export function interruptSignal(): AbortSignal {
  const interrupt = new AbortController();
  const onSignal = (): void => {
    if (interrupt.signal.aborted) process.exit(130);
    interrupt.abort(new LocalCloudError('interrupted'));
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return interrupt.signal;
}

/** What a person should read of a failure: no stack where somebody here, or the system, has named what is wrong. */
function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isNamed = error instanceof ConnectorError || 'code' in error;
  return isNamed ? error.message : (error.stack ?? error.message);
}
