import { ConnectorError } from '../../shared/base/errors.ts';

/** The command cannot do what was asked. Printed without a stack: the message says what to change. */
export class CommandError extends ConnectorError {
  override readonly name: string = 'CommandError';
}

/** The command line itself is wrong: nothing was begun. */
export class UsageError extends CommandError {
  override readonly name = 'UsageError';
}

/** What a command ends with. */
export const EXIT = {
  ok: 0,
  /** Something asked for was not done, or the configuration is wrong. */
  failed: 1,
  /** The command line is wrong: an unknown option or command, a value that an option does not take. */
  usage: 2,
  /** A fault of ours (EX_SOFTWARE of sysexits). */
  unexpected: 70,
  /** Ended by Ctrl-C (SIGINT), after what was on its way had settled or its time was over. */
  interrupted: 130,
  /** Ended by SIGTERM, in the same way. */
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The same for every command, for their help. */
export const EXIT_CODES_HELP = `
Exit codes: 0 done; 1 something was not done, or the configuration is wrong; 2 the command line is wrong;
70 a fault of the connector; 130 ended by Ctrl-C; 143 ended by SIGTERM.`;

/** The command was told to end, by Ctrl-C or by SIGTERM. */
export class InterruptedError extends ConnectorError {
  override readonly name = 'InterruptedError';
  readonly exitCode: ExitCode;

  constructor(by: 'SIGINT' | 'SIGTERM') {
    super(by === 'SIGINT' ? 'interrupted' : 'terminated');
    this.exitCode = by === 'SIGINT' ? EXIT.interrupted : EXIT.terminated;
  }
}

/** A client's account of its retries repeats itself for pages. */
export const shortened = (text: string): string => (text.length > 200 ? `${text.slice(0, 199)}…` : text);
