import type { FieldReference } from './resolved.ts';
import { type Cursor, isAtEnd, peek, SyntaxProblem, take, takeQuoted, takeWhile } from './syntax.ts';

/** Deeper paths than any record has. */
const MAX_SEGMENTS = 50;

/** Characters that end a bare name, because they mean something in a path or in the template around it. */
const RESERVED = new Set(['.', '"', '|', '{', '}', '$', '@', ' ', '\t', '\n', '\r']);
const isNameCharacter = (character: string): boolean => !RESERVED.has(character);

/** Names of attributes may hold dots; only what ends the reference in a template ends them. */
const isAttributeCharacter = (character: string): boolean => !['|', '}', '"'].includes(character);

/**
 * Reads a whole option as a reference: `account.balance`, `items.0."odd.name"`, `@attributes.tenant`, `@orderingKey`,
 * `@messageId`, `@publishTime` or `@data` (the record's bytes as they came). Throws a {@link SyntaxProblem}.
 */
export function parseFieldReference(text: string): FieldReference {
  const cursor: Cursor = { text, at: 0 };
  const reference = takeFieldReference(cursor);
  if (!isAtEnd(cursor))
    throw new SyntaxProblem(`unexpected ${JSON.stringify(peek(cursor))} in a field path`, cursor.at);
  return reference;
}

/** Reads a reference that starts here and leaves the cursor behind it. */
export function takeFieldReference(cursor: Cursor): FieldReference {
  const from = cursor.at;
  const labelled = (): { label: string } => ({ label: cursor.text.slice(from, cursor.at) });
  if (take(cursor, '@')) {
    const name = takeWhile(cursor, (character) => /[A-Za-z]/.test(character));
    switch (name) {
      case 'orderingKey':
      case 'messageId':
      case 'publishTime':
      case 'data':
        return { from: name, ...labelled() };
      case 'attributes': {
        if (!take(cursor, '.')) throw new SyntaxProblem('@attributes must be followed by ".name"', cursor.at);
        const attribute = peek(cursor) === '"' ? takeQuoted(cursor) : takeWhile(cursor, isAttributeCharacter);
        if (attribute === '') throw new SyntaxProblem('an attribute needs a name', cursor.at);
        return { from: 'attribute', name: attribute, ...labelled() };
      }
      default:
        throw new SyntaxProblem('must be one of @attributes.name, @orderingKey, @messageId, @publishTime, @data', from);
    }
  }
  const path = takePath(cursor);
  return { from: 'payload', path, ...labelled() };
}

function takePath(cursor: Cursor): readonly string[] {
  const path: string[] = [];
  do {
    const segment = peek(cursor) === '"' ? takeQuoted(cursor) : takeWhile(cursor, isNameCharacter);
    if (segment === '' && cursor.text.charAt(cursor.at - 1) !== '"') {
      throw new SyntaxProblem('a field path needs a name here', cursor.at);
    }
    path.push(segment);
  } while (take(cursor, '.'));
  if (path.length > MAX_SEGMENTS) {
    throw new SyntaxProblem(`a field path must have at most ${MAX_SEGMENTS} names`, cursor.at);
  }
  return path;
}
