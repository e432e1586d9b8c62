import { RE2JS } from 're2js';

/**
 * RE2 patterns over bytes, as the service's filters take them: a pattern must match the whole text, and pattern and
 * text are latin1, a character for each byte. Matching takes time in proportion to the text. Pure.
 */
export type BytePattern = (text: string) => boolean;

/** A compiled pattern, with the texts that it stands for when it holds nothing but literals. */
export interface CompiledPattern {
  readonly test: BytePattern;
  /**
   * The only texts that it matches, one per alternative and as they are written (so the same text may be there twice),
   * when the pattern holds no operator but `|`. One text is a literal.
   */
  readonly literals: readonly string[] | undefined;
}

/** Compiles a pattern whose characters are its bytes. Throws a `SyntaxError` that says what is wrong with it. */
export function compilePattern(pattern: string): CompiledPattern {
  const literals = literalAlternatives(pattern);
  if (literals) return { test: isOneOf(literals), literals };
  try {
    const expression = RE2JS.compile(withAnyByte(pattern));
    return { test: (text) => expression.testExact(text), literals: undefined };
  } catch (error) {
    throw new SyntaxError(error instanceof Error ? error.message : 'cannot be compiled', { cause: error });
  }
}

/** The set is made at the first question: where columns are looked up by name, most patterns are never asked one. */
function isOneOf(literals: readonly string[]): BytePattern {
  const [only] = literals;
  if (literals.length === 1) return (text) => text === only;
  let texts: ReadonlySet<string> | undefined;
  return (text) => (texts ??= new Set(literals)).has(text);
}

/** What an escape may be part of: quoted text, an escape, a bracket expression. */
const ESCAPING = /\\Q[^]*?(?:\\E|$)|\\[^]|\[\^?\]?(?:\[:[^\]]*:\]|\\[^]|[^\]\\])*\]/g;

/** `\C`, any byte, is the one operator that the library lacks. */
const withAnyByte = (pattern: string): string =>
  pattern.replaceAll(ESCAPING, (part) => (part === '\\C' ? '(?s:.)' : part));

/** One literal, or the `|` between alternatives; where it does not match, there is another operator. */
const LITERAL = new RegExp(
  [
    String.raw`\\Q(?<quoted>[^]*?)(?:\\E|$)`,
    String.raw`\\x(?<hex>[0-9A-Fa-f]{2})`,
    String.raw`\\x\{(?<braced>[0-9A-Fa-f]{1,2})\}`,
    // One digit that is not 0 would be a back reference, which RE2 does not have.
    String.raw`\\(?<octal>0[0-7]{0,2}|[1-3][0-7]{1,2}|[4-7][0-7](?![0-7]))`,
    String.raw`\\(?<control>[afnrtv])`,
    String.raw`\\(?<escaped>[^0-9A-Za-z\x80-\xff])`,
    String.raw`(?<bar>\|)`,
    // Any brace that does not begin a repetition.
    String.raw`(?<brace>\{(?!\d+(?:,\d*)?\}))`,
    String.raw`(?<plain>[^\\[.({*+?)|^$]+)`,
  ].join('|'),
  'y',
);
const CONTROLS: Readonly<Record<string, string>> = { a: '\x07', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

/** Undefined when the pattern holds an operator. A pattern of literals is never wrong. */
function literalAlternatives(pattern: string): readonly string[] | undefined {
  // Dots and lines are not among literals, so the flag that is about them changes nothing.
  const text = pattern.startsWith('(?s)') ? pattern.slice(4) : pattern;
  const alternatives: string[] = [];
  let alternative = '';
  LITERAL.lastIndex = 0;
  for (let at = 0; at < text.length; at = LITERAL.lastIndex) {
    const groups = LITERAL.exec(text)?.groups;
    if (!groups) return undefined;
    if (groups.bar === undefined) {
      alternative += literalOf(groups);
    } else {
      alternatives.push(alternative);
      alternative = '';
    }
  }
  alternatives.push(alternative);
  return alternatives;
}

function literalOf(groups: Readonly<Record<string, string | undefined>>): string {
  const hex = groups.hex ?? groups.braced;
  if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
  if (groups.octal !== undefined) return String.fromCharCode(Number.parseInt(groups.octal, 8));
  if (groups.control !== undefined) return CONTROLS[groups.control] ?? '';
  return groups.quoted ?? groups.escaped ?? groups.brace ?? groups.plain ?? '';
}
