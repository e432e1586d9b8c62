/**
 * RE2 patterns in byte mode, as the service's filters take them, run as JavaScript regular expressions over latin1
 * text. A pattern must match the whole text. What the two languages spell differently is translated; what RE2 does not
 * have is refused. Unlike RE2, JavaScript backtracks: a pathological pattern can be slow here. Pure.
 */
export type BytePattern = (text: string) => boolean;

/** A compiled pattern, with the texts that it stands for when it holds nothing but literals. */
export interface CompiledPattern {
  readonly test: BytePattern;
  /**
   * The only texts that it matches, one per alternative and as they are written (so the same text may be there twice),
   * when the pattern holds no operator but `|` outside of groups. One text is a literal.
   */
  readonly literals: readonly string[] | undefined;
}

/** Compiles a pattern whose characters are its bytes. Throws a `SyntaxError` that says what is wrong with it. */
export function compilePattern(pattern: string): CompiledPattern {
  const { source, literals, flags } = translate(pattern);
  if (literals) return { test: isOneOf(literals), literals };
  // By itself first: the group around it would balance parentheses that it does not.
  new RegExp(source, flags);
  const expression = new RegExp(`^(?:${source})$`, flags);
  return { test: (text) => expression.test(text), literals: undefined };
}

/** The set is made at the first question: where columns are looked up by name, most patterns are never asked one. */
function isOneOf(literals: readonly string[]): BytePattern {
  const [only] = literals;
  if (literals.length === 1) return (text) => text === only;
  let texts: ReadonlySet<string> | undefined;
  return (text) => (texts ??= new Set(literals)).has(text);
}

interface Translation {
  readonly source: string;
  readonly literals: readonly string[] | undefined;
  readonly flags: string;
}

function translate(pattern: string): Translation {
  const leading = /^\(\?([is]+)\)/.exec(pattern);
  const flags = new Set(leading?.[1]);
  const scanner = new Scanner(leading ? pattern.slice(leading[0].length) : pattern, flags.has('s') ? '[^]' : '[^\\n]');
  scanner.run();
  const ignoresCase = flags.has('i');
  const literals = ignoresCase ? undefined : scanner.literals;
  return { source: scanner.source, literals, flags: ignoresCase ? 'i' : '' };
}

/** The classes that RE2 and JavaScript spell alike but read differently, and those that JavaScript lacks. */
const CLASS_ESCAPES: Readonly<Record<string, string>> = {
  d: '0-9',
  w: '0-9A-Za-z_',
  s: '\\t\\n\\f\\r ',
};
const POSIX_CLASSES: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7f',
  blank: '\\t ',
  cntrl: '\\x00-\\x1f\\x7f',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};
const CONTROL_ESCAPES: Readonly<Record<string, string>> = { a: '\x07', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };
/** Characters that stand for themselves, up to the next that is or may begin an operator, or escapes another. */
const PLAIN = /[^\\[.({*+?)|^$]+/y;

class Scanner {
  source = '';
  /** The alternatives up to here; undefined from the first operator on that is not a `|` between them. */
  literals: string[] | undefined = [''];
  readonly #pattern: string;
  readonly #dot: string;
  #at = 0;

  constructor(pattern: string, dot: string) {
    this.#pattern = pattern;
    this.#dot = dot;
  }

  run(): void {
    for (;;) {
      this.#text(this.#plain());
      if (this.#at >= this.#pattern.length) return;
      const character = this.#next();
      if (character === '\\') this.#escape();
      else if (character === '[') this.#class();
      else if (character === '.') this.#operator(this.#dot);
      else if (character === '(') this.#group();
      else if (character === '{') this.#repetition();
      else if (character === '|') this.#alternative();
      else this.#operator(character);
    }
  }

  #plain(): string {
    PLAIN.lastIndex = this.#at;
    const plain = PLAIN.exec(this.#pattern)?.[0] ?? '';
    this.#at += plain.length;
    return plain;
  }

  /** A group makes `literals` undefined, so while there are some, the `|` stands outside of groups. */
  #alternative(): void {
    this.source += '|';
    this.literals?.push('');
  }

  #group(): void {
    const rest = this.#pattern.slice(this.#at);
    const named = /^\?P?<([A-Za-z_]\w*)>/.exec(rest);
    const plain = /^\?(?:[is]*(?:-[is]+)?):/.exec(rest);
    const opened = named ?? plain;
    if (!opened && rest.startsWith('?')) throw new SyntaxError(`unsupported group: (${rest.slice(0, 4)}`);
    if (plain?.[0].includes('s')) throw new SyntaxError(`unsupported group: (${plain[0]}`);
    this.#at += opened?.[0].length ?? 0;
    this.#operator(plain ? `(${plain[0]}` : '(?:');
  }

  /** `{2}`, `{2,}`, `{2,5}`; any other brace is a literal one. */
  #repetition(): void {
    const counts = /^\d+(?:,\d*)?\}/.exec(this.#pattern.slice(this.#at));
    if (!counts) {
      this.#text('{');
      return;
    }
    this.#at += counts[0].length;
    this.#operator(`{${counts[0]}`);
  }

  #escape(): void {
    if (this.#at >= this.#pattern.length) throw new SyntaxError('trailing backslash');
    const character = this.#next();
    const lower = character.toLowerCase();
    if (character === 'C') this.#operator('[^]');
    else if (character === 'Q') this.#quoted();
    else if (character === 'A') this.#operator('^');
    else if (character === 'z') this.#operator('$');
    else if (lower === 'b') this.#operator(`\\${character}`);
    else if (CLASS_ESCAPES[lower] !== undefined) {
      this.#operator(`[${character === lower ? '' : '^'}${CLASS_ESCAPES[lower]}]`);
    } else this.#text(this.#escapedByte(character));
  }

  /** The one character that an escape stands for. */
  #escapedByte(character: string): string {
    const control = CONTROL_ESCAPES[character];
    if (control !== undefined) return control;
    const rest = this.#pattern.slice(this.#at);
    const hex = character === 'x' ? /^(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,2})\})/.exec(rest) : null;
    if (hex) {
      this.#at += hex[0].length;
      return String.fromCharCode(Number.parseInt(hex[1] ?? hex[2] ?? '', 16));
    }
    const octal = /^[0-7]/.test(character) ? /^[0-7]{0,2}/.exec(rest) : null;
    // One digit that is not 0 would be a back reference, which RE2 does not have.
    if (octal && (character === '0' || octal[0].length > 0)) {
      this.#at += octal[0].length;
      return String.fromCharCode(Number.parseInt(character + octal[0], 8) & 0xff);
    }
    if (/[0-9A-Za-z]/.test(character)) throw new SyntaxError(`invalid escape sequence: \\${character}`);
    return character;
  }

  #quoted(): void {
    const end = this.#pattern.indexOf('\\E', this.#at);
    const text = this.#pattern.slice(this.#at, end < 0 ? undefined : end);
    this.#at = end < 0 ? this.#pattern.length : end + 2;
    this.#text(text);
  }

  /** A bracket expression; the opening bracket was read. */
  #class(): void {
    let body = '';
    if (this.#pattern[this.#at] === '^') body += this.#next();
    for (let isFirst = true; ; isFirst = false) {
      if (this.#at >= this.#pattern.length) throw new SyntaxError('missing closing ]');
      const character = this.#next();
      if (character === ']' && !isFirst) break;
      const posix = character === '[' ? /^:(\^?)([a-z]+):\]/.exec(this.#pattern.slice(this.#at)) : null;
      if (posix) {
        const members = POSIX_CLASSES[posix[2] ?? ''];
        if (members === undefined || posix[1] !== '') throw new SyntaxError(`unsupported class: [${posix[0]}`);
        this.#at += posix[0].length;
        body += members;
      } else if (character === '\\') body += this.#classEscape();
      else body += character === '-' ? '-' : hex(character);
    }
    this.#operator(`[${body}]`);
  }

  #classEscape(): string {
    if (this.#at >= this.#pattern.length) throw new SyntaxError('trailing backslash');
    const character = this.#next();
    const members = CLASS_ESCAPES[character];
    if (members !== undefined) return members;
    if (CLASS_ESCAPES[character.toLowerCase()] !== undefined) {
      if (character === 'S') return '\\x00-\\x08\\v\\x0e-\\x1f!-\\xff';
      return `\\${character}`;
    }
    return hex(this.#escapedByte(character));
  }

  #text(text: string): void {
    this.source += text.replaceAll(/\W/g, hex);
    const alternative = this.literals?.pop();
    if (alternative !== undefined) this.literals?.push(alternative + text);
  }

  #operator(source: string): void {
    this.source += source;
    this.literals = undefined;
  }

  #next(): string {
    const character = this.#pattern[this.#at] ?? '';
    this.#at += 1;
    return character;
  }
}

/** A byte that means nothing but itself, inside a class and outside. */
const hex = (character: string): string => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
