import { RecordError } from '../../base/errors.ts';

/** One broken rule of a request, at its place in the document. The message holds the rule and what stands there. */
export interface RequestProblem {
  /** As one would reach for it: `conditional.then[3].setCell.family`. */
  readonly path: string;
  readonly message: string;
}

/** A document that is no row request, with its first problems at once. No message quotes a row key or a value. */
export class RowRequestError extends RecordError {
  override readonly name = 'RowRequestError';
  /** At most {@link MAX_TOLD}. */
  readonly problems: readonly RequestProblem[];
  /** Of all problems that there are. */
  readonly count: number;

  /** @param count of all problems, where only the first are handed in. */
  constructor(problems: readonly RequestProblem[], options?: ErrorOptions, count = problems.length) {
    const shown = problems.slice(0, MAX_SHOWN).map(({ path, message }) => `${path}: ${message}`);
    const rest = count > MAX_SHOWN ? [`and ${count - MAX_SHOWN} more`] : [];
    super([...shown, ...rest].join('; '), options);
    this.problems = problems.slice(0, MAX_TOLD);
    this.count = count;
  }
}

/** Problems that the error's own text repeats. */
const MAX_SHOWN = 10;

/** Problems that are told: a request may have as many as it has mutations, and an answer would be larger than what it is about. */
export const MAX_TOLD = 100;

/** `conditional.then[3].setCell`; the document itself where the path is empty. */
export function formatPath(path: readonly PropertyKey[]): string {
  const text = path.reduce<string>((before, part) => {
    if (typeof part === 'number') return `${before}[${part}]`;
    return before === '' ? String(part) : `${before}.${String(part)}`;
  }, '');
  return text === '' ? 'request' : text;
}

/** The problem that a message states which starts with its path. */
export function problemOf(message: string): RequestProblem {
  const end = message.indexOf(': ');
  return { path: message.slice(0, end), message: message.slice(end + 2) };
}
