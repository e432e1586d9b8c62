import { GrpcError } from '../../rpc/grpc.ts';
import { nextToken, type Token } from './filter-tokens.ts';

/** Decides by a message's attributes whether a subscription gets it. */
export type MessageFilter = (attributes: Readonly<Record<string, string>>) => boolean;

const MAX_FILTER_BYTES = 256;

/**
 * Compiles a subscription filter (cloud.google.com/pubsub/docs/subscription-message-filter). Pure.
 *
 *     expression = term { "AND" term } | term { "OR" term }         AND and OR mix only by parentheses
 *     term       = { "NOT" | "-" } factor
 *     factor     = "(" expression ")"
 *                | "attributes" ":" key
 *                | "attributes" "." key ("=" | "!=") string
 *                | "hasPrefix" "(" "attributes" "." key "," string ")"
 *
 * `!=` is the negation of `=`: it also holds for a message without the attribute.
 * @throws INVALID_ARGUMENT naming the place, for a text that is no filter or longer than 256 bytes.
 */
export function compileFilter(text: string): MessageFilter {
  if (Buffer.byteLength(text) > MAX_FILTER_BYTES) {
    throw new GrpcError(
      'INVALID_ARGUMENT',
      `filter: at most ${MAX_FILTER_BYTES} bytes, got ${Buffer.byteLength(text)}`,
    );
  }
  if (text.trim() === '') return () => true;
  const parser = new FilterParser(text);
  const filter = parser.expression();
  parser.expectEnd();
  return filter;
}

class FilterParser {
  readonly #text: string;
  #token: Token;

  constructor(text: string) {
    this.#text = text;
    this.#token = nextToken(text, 0);
  }

  expression(): MessageFilter {
    let filter = this.#term();
    const joint = this.#token.text;
    if (joint !== 'AND' && joint !== 'OR') return filter;
    while (this.#token.text === 'AND' || this.#token.text === 'OR') {
      if (this.#token.text !== joint) throw this.#refusal('parentheses where AND and OR meet');
      this.#advance();
      filter = join(joint, filter, this.#term());
    }
    return filter;
  }

  expectEnd(): void {
    if (this.#token.kind !== 'end') throw this.#refusal('AND, OR or the end');
  }

  #term(): MessageFilter {
    let isNegated = false;
    while (this.#token.text === 'NOT' || this.#token.text === '-') {
      isNegated = !isNegated;
      this.#advance();
    }
    const factor = this.#factor();
    return isNegated ? (attributes) => !factor(attributes) : factor;
  }

  #factor(): MessageFilter {
    if (this.#accept('(')) {
      const inner = this.expression();
      this.#expect(')');
      return inner;
    }
    if (this.#accept('hasPrefix')) return this.#prefixCall();
    this.#expect('attributes');
    if (this.#accept(':')) {
      const key = this.#key();
      return (attributes) => Object.hasOwn(attributes, key);
    }
    this.#expect('.');
    return this.#comparison(this.#key());
  }

  #prefixCall(): MessageFilter {
    for (const expected of ['(', 'attributes', '.']) this.#expect(expected);
    const key = this.#key();
    this.#expect(',');
    const prefix = this.#string();
    this.#expect(')');
    return (attributes) => Object.hasOwn(attributes, key) && (attributes[key] ?? '').startsWith(prefix);
  }

  #comparison(key: string): MessageFilter {
    const isEqual = this.#accept('=');
    if (!isEqual) this.#expect('!=');
    const value = this.#string();
    return (attributes) => (Object.hasOwn(attributes, key) && attributes[key] === value) === isEqual;
  }

  #key(): string {
    const { kind, text, value } = this.#token;
    if (kind !== 'word' && kind !== 'string') throw this.#refusal('an attribute key');
    this.#advance();
    return kind === 'string' ? value : text;
  }

  #string(): string {
    const { kind, value } = this.#token;
    if (kind !== 'string') throw this.#refusal('a quoted string');
    this.#advance();
    return value;
  }

  /** A quoted string is never a keyword or a sign: its text keeps its quotes. */
  #accept(text: string): boolean {
    if (this.#token.text !== text) return false;
    this.#advance();
    return true;
  }

  #expect(text: string): void {
    if (!this.#accept(text)) throw this.#refusal(`"${text}"`);
  }

  #advance(): void {
    this.#token = nextToken(this.#text, this.#token.end);
  }

  #refusal(expected: string): GrpcError {
    const { start, text } = this.#token;
    const got = this.#token.kind === 'end' ? 'the end' : text;
    return new GrpcError('INVALID_ARGUMENT', `filter: expected ${expected} at character ${start + 1}, got ${got}`);
  }
}

const join = (joint: 'AND' | 'OR', left: MessageFilter, right: MessageFilter): MessageFilter =>
  joint === 'AND'
    ? (attributes) => left(attributes) && right(attributes)
    : (attributes) => left(attributes) || right(attributes);
