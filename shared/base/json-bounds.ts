/** How far JSON from outside may be nested, and into how many values it may be split. */
export interface JsonBounds {
  readonly maxDepth: number;
  /** Values, counted by what begins one: a bracket, a brace, a comma. */
  readonly maxValues: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * The bound that a JSON text breaks, or undefined. Told before the text is parsed, because a parsed value takes many
 * times the bytes that it is written in: a bracket alone becomes some 60. Whether the text is JSON is the parser's to
 * say. Pure.
 */
export function jsonBoundsRule(text: string, { maxDepth, maxValues }: JsonBounds): string | undefined {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfText(text, at) - 1;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth += 1;
        values += 1;
        if (depth > maxDepth) return `must not be nested deeper than ${maxDepth}`;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth -= 1;
        break;
      case COMMA:
        values += 1;
        break;
      default:
    }
    if (values > maxValues) return `must not hold more than ${maxValues} values`;
  }
  return undefined;
}

/** The position after a text that opens at `open`; the end of the input when it never closes. */
export function endOfText(text: string, open: number): number {
  for (let close = text.indexOf('"', open + 1); close !== -1; close = text.indexOf('"', close + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(close - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return close + 1;
  }
  return text.length;
}
