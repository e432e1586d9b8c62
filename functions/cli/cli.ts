import { Command, CommanderError } from 'commander';
import { abortable } from '../../shared/base/abort.ts';
import { abortReason } from '../../shared/base/clock.ts';
import { ConnectorError } from '../../shared/base/errors.ts';
import { usageLine } from '../../shared/base/usage-line.ts';
import { addChangeStream } from './change-stream.ts';
import { EXIT, EXIT_CODES_HELP, UsageError, shortened, type ExitCode } from './errors.ts';
import { endingAfter, interruptedExit } from './interruption.ts';
import { addMap } from './map.ts';
import type { CliContext } from './ports.ts';
import { addPublish } from './publish.ts';
import { addReplayDlq } from './replay-dlq.ts';
import { addScan } from './scan.ts';
import { addStatus } from './status.ts';
import { addValidate } from './validate.ts';

/** The world of a command: what tells it to end says how it ends, too. */
export type CliSurroundings = Omit<CliContext, 'ending'>;

/**
 * Runs one command to its end, within a second of the moment at which `signal` aborts. Never throws: what went wrong is
 * printed, and the exit code says of which sort it was.
 */
export async function runCli(argv: readonly string[], surroundings: CliSurroundings): Promise<ExitCode> {
  const context: CliContext = { ...surroundings, ending: endingAfter(surroundings.signal, surroundings.clock) };
  let code: ExitCode = EXIT.ok;
  const done = (ended: ExitCode): void => {
    code = ended;
  };
  const program = new Command('connector')
    .description('Checks, tries, feeds and repairs the pipelines of a connector.yaml.')
    .addHelpText('after', EXIT_CODES_HELP)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        context.terminal.print(text.trimEnd());
      },
      writeErr: (text) => {
        context.terminal.note(text.trimEnd());
      },
      outputError: (text, write) => {
        write(usageLine(text));
      },
    });
  for (const add of [addValidate, addMap, addPublish, addReplayDlq, addStatus, addScan, addChangeStream])
    add(program, context, done);
  for (const command of program.commands) command.copyInheritedSettings(program);
  try {
    await abortable(program.parseAsync(argv, { from: 'user' }), context.ending.limit);
    return code;
  } catch (error) {
    return report(error, context);
  }
}

function report(error: unknown, { terminal, signal, ending }: CliContext): ExitCode {
  // The parser has printed its message, or the help that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  terminal.status('');
  const reason = signal.aborted ? abortReason(signal) : undefined;
  if (reason && error === reason) {
    terminal.note(ending.limit.aborted ? `${reason.message}; what was on its way has not answered` : reason.message);
    return interruptedExit(signal);
  }
  if (error instanceof ConnectorError) {
    terminal.note(`error: ${error.message}`);
  } else if (isOutside(error)) {
    terminal.note(`error: ${shortened(error.message)}`);
  } else {
    terminal.note(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return EXIT.unexpected;
  }
  if (signal.aborted) return interruptedExit(signal);
  return error instanceof UsageError ? EXIT.usage : EXIT.failed;
}

/** The system's or a service's answer (a file that is not there, a subscription that is not): nothing of ours broke. */
const isOutside = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && ('syscall' in error || typeof error.code === 'number');
