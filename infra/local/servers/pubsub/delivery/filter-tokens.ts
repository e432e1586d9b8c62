import { GrpcError } from '../../rpc/grpc.ts';

/** One token of a filter. Pure. */
export interface Token {
  readonly kind: 'word' | 'string' | 'sign' | 'end';
  /** As it is written, quotes included. */
  readonly text: string;
  /** What a string stands for, its escapes resolved. */
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

const SPACE = /\s*/y;
/** A minus in front of a word negates; inside a word it is part of a key. */
const WORD = /[A-Za-z0-9_][A-Za-z0-9_-]*/y;
const STRING = /"(?:[^"\\\n]|\\.)*"/y;
const SIGN = /!=|[=:.,()-]/y;

/** The token that starts at or after `from`. @throws INVALID_ARGUMENT for a character that starts none. */
export function nextToken(text: string, from: number): Token {
  const start = from + (match(SPACE, text, from)?.length ?? 0);
  const token = (kind: Token['kind'], written: string, value = ''): Token => ({
    kind,
    text: written,
    value,
    start,
    end: start + written.length,
  });
  if (start >= text.length) return token('end', '');
  const word = match(WORD, text, start);
  if (word !== undefined) return token('word', word);
  const string = match(STRING, text, start);
  if (string !== undefined) return token('string', string, unescape(string.slice(1, -1), start));
  const sign = match(SIGN, text, start);
  if (sign !== undefined) return token('sign', sign);
  throw new GrpcError(
    'INVALID_ARGUMENT',
    `filter: nothing starts with ${text.slice(start, start + 1)} at character ${start + 1}`,
  );
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/** `\"`, `\\`, `\n`… and the numeric escapes `\ooo` (octal), `\xhh`, `\uhhhh`, `\Uhhhhhhhh`. */
const ESCAPE = /\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([0-7]{3})|(.))/g;
const NAMED: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '\\': '\\',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

function unescape(inner: string, start: number): string {
  return inner.replace(ESCAPE, (escape, hex?: string, short?: string, long?: string, octal?: string, name?: string) => {
    const digits = hex ?? short ?? long;
    const code = digits === undefined ? (octal === undefined ? undefined : parseInt(octal, 8)) : parseInt(digits, 16);
    if (code !== undefined && code <= 0x10ffff) return String.fromCodePoint(code);
    const named = name === undefined ? undefined : NAMED[name];
    if (named !== undefined) return named;
    throw new GrpcError('INVALID_ARGUMENT', `filter: ${escape} in the string at character ${start + 1} is no escape`);
  });
}
