import { ConnectorError } from '../../shared/base/errors.ts';

/** The command cannot do what was asked. Printed without a stack: the message says what to change. */
export class CommandError extends ConnectorError {
  override readonly name = 'CommandError';
}

/** What a command ends with. */
export const EXIT = {
  ok: 0,
  /** Something asked for was not done, or the configuration is wrong. */
  failed: 1,
  /** A fault of ours (EX_SOFTWARE of sysexits). */
  unexpected: 70,
  /** Ended by Ctrl-C, after what was on its way had settled. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
