/**
 * The glossary of what can go wrong. Every error of ours has a class, keeps its cause, and says in its message
 * what was attempted, which rule decided, and what to do. No message carries a row key, a value or a credential.
 */
export abstract class ConnectorError extends Error {
  /** Written out in every class, because a bundler may rename classes. */
  abstract override readonly name: string;
}

/** One broken rule of the configuration. `got` is already rendered. */
export interface ConfigProblem {
  readonly path: string;
  readonly rule: string;
  readonly got: string;
}

/** The configuration cannot be right. Carries every problem at once; nothing was started. */
export class ConfigError extends ConnectorError {
  override readonly name = 'ConfigError';
  readonly problems: readonly ConfigProblem[];

  constructor(source: string, problems: readonly ConfigProblem[]) {
    const lines = problems.map(({ path, rule, got }) => `  ${path}: ${rule}, got ${got}`);
    super(`${source}: ${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}\n${lines.join('\n')}`);
    this.problems = problems;
  }
}

/** Why a message goes back to Pub/Sub. The reason is also the label of the metric that counts it. */
export type RedeliveryReason =
  | 'deadline'
  | 'transient'
  | 'ambiguous'
  | 'missing-table'
  | 'missing-family'
  | 'refused'
  | 'client'
  | 'failure-policy'
  | 'empty-branch'
  | 'dead-letter-unconfirmed'
  | 'result-unconfirmed'
  | 'rejection-limit'
  | 'backlog'
  | 'staging'
  | 'changed'
  | 'destination'
  | 'letter'
  | 'malformed-push'
  | 'no-room'
  | 'draining'
  | 'unexpected';

/** The message is not acknowledged; Pub/Sub delivers it again. Nothing of it is lost. */
export class RedeliverError extends ConnectorError {
  override readonly name = 'RedeliverError';
  readonly reason: RedeliveryReason;

  constructor(reason: RedeliveryReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** This record itself is wrong and will be wrong at every delivery: it belongs to the failure policy. */
export class RecordError extends ConnectorError {
  override readonly name: string = 'RecordError';

  constructor(message: string, options?: ErrorOptions) {
    // A message may make a hundred thousand of them, and what is wrong is in the record.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, options);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** A wait ended because the invocation's time was used up. */
export class DeadlineError extends ConnectorError {
  override readonly name = 'DeadlineError';
}

/** Makes an Error of whatever was thrown, without losing it. */
export function toError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  // An object may hold a record, or refuse to be made a text: only its being one is told.
  const text = typeof thrown === 'object' && thrown !== null ? 'an object that is no Error' : String(thrown);
  return new Error(`thrown: ${text}`, { cause: thrown });
}
