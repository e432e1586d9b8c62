import { inspect } from 'node:util';

/** One structured line per event, as Cloud Logging reads them from stdout. Never row keys, values or credentials. */

export type Severity = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR';

export type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  log(severity: Severity, message: string, fields?: LogFields): void;
  /** A logger whose lines also carry these fields. */
  with(fields: LogFields): Logger;
}

/** Where finished lines go: stdout in production, an array in tests. */
export type LineSink = (line: string) => void;

export const stdoutLines: LineSink = (line) => {
  process.stdout.write(`${line}\n`);
};

export function createLogger(fields: LogFields = {}, write: LineSink = stdoutLines): Logger {
  return {
    log(severity, message, more) {
      write(lineOf({ severity, message }, { ...fields, ...more }));
    },
    with: (more) => createLogger({ ...fields, ...more }, write),
  };
}

/** The event comes first for the reader; no field takes its place, and none that cannot be written costs it. */
function lineOf(event: { readonly severity: Severity; readonly message: string }, fields: LogFields): string {
  try {
    return JSON.stringify({ ...event, ...fields, ...event }, jsonSafe);
  } catch (error) {
    return JSON.stringify({ ...event, fieldsError: describeError(error) });
  }
}

/** An error as a value for a log line: its class, its message and those of its causes. No stack of user code. */
export function describeError(error: unknown): string {
  const parts: string[] = [];
  const seen = new Set<unknown>();
  for (let at: unknown = error; at !== undefined && at !== null && !seen.has(at);) {
    seen.add(at);
    if (!(at instanceof Error)) {
      parts.push(inspect(at, { depth: 1 }));
      break;
    }
    parts.push(`${at.name}: ${at.message}`);
    at = at.cause;
  }
  return parts.join('; caused by ');
}

const jsonSafe = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value);
