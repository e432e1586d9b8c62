import { Command, CommanderError } from 'commander';
import { ConnectorError } from '../../shared/base/errors.ts';
import { EXIT, type ExitCode } from './errors.ts';
import { addMap } from './map.ts';
import type { CliContext } from './ports.ts';
import { addPublish } from './publish.ts';
import { addReplayDlq } from './replay-dlq.ts';
import { addStatus } from './status.ts';
import { addValidate } from './validate.ts';

/** Runs one command to its end. Never throws: what went wrong is printed, and the exit code says of which sort it was. */
export async function runCli(argv: readonly string[], context: CliContext): Promise<ExitCode> {
  let code: ExitCode = EXIT.ok;
  const done = (ended: ExitCode): void => {
    code = ended;
  };
  const program = new Command('connector')
    .description('Checks, tries, feeds and repairs the pipelines of a connector.yaml.')
    .showHelpAfterError('(--help shows what there is)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        context.terminal.print(text.trimEnd());
      },
      writeErr: (text) => {
        context.terminal.note(text.trimEnd());
      },
    });
  for (const add of [addValidate, addMap, addPublish, addReplayDlq, addStatus]) add(program, context, done);
  for (const command of program.commands) command.copyInheritedSettings(program);
  try {
    await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    return report(error, context);
  }
}

function report(error: unknown, { terminal }: CliContext): ExitCode {
  // The parser has printed its message, or the help that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.failed;
  if (error instanceof ConnectorError || isOutside(error)) {
    terminal.note(`error: ${error.message}`);
    return EXIT.failed;
  }
  terminal.note(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return EXIT.unexpected;
}

/** The system's or a service's answer (a file that is not there, a subscription that is not): nothing of ours broke. */
const isOutside = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && ('syscall' in error || typeof error.code === 'number');
