/**
 * What the parsers of this folder share: a cursor over one option's text, and the problem they report. Positions count
 * from 1, as people and editors do.
 */

/** A text that breaks a rule at a place. Thrown by the parsers and turned into a `ConfigProblem` by their callers. */
export class SyntaxProblem extends Error {
  override readonly name = 'SyntaxProblem';

  constructor(rule: string, index: number) {
    super(`${rule} (at character ${index + 1})`);
  }
}

export interface Cursor {
  readonly text: string;
  at: number;
}

export const peek = ({ text, at }: Cursor): string => text.charAt(at);
export const isAtEnd = ({ text, at }: Cursor): boolean => at >= text.length;

/** Moves past `expected` when it stands here. */
export function take(cursor: Cursor, expected: string): boolean {
  if (!cursor.text.startsWith(expected, cursor.at)) return false;
  cursor.at += expected.length;
  return true;
}

/** Moves past every character that `isPart` takes and returns them. */
export function takeWhile(cursor: Cursor, isPart: (character: string) => boolean): string {
  const from = cursor.at;
  while (!isAtEnd(cursor) && isPart(peek(cursor))) cursor.at += 1;
  return cursor.text.slice(from, cursor.at);
}

/** Reads a JSON string that starts here. */
export function takeQuoted(cursor: Cursor): string {
  const from = cursor.at;
  const match = /^"(?:[^"\\]|\\.)*"/.exec(cursor.text.slice(from));
  if (!match) throw new SyntaxProblem('a quoted name must end with a quote', from);
  cursor.at += match[0].length;
  try {
    return String(JSON.parse(match[0]));
  } catch {
    throw new SyntaxProblem('a quoted name must be a JSON string', from);
  }
}
