import { takeFieldReference } from './field-reference.ts';
import { fixedWidth, readModifier } from './modifiers.ts';
import type { FieldReference, TemplateModifier, TemplatePart } from './resolved.ts';
import { type Cursor, isAtEnd, peek, SyntaxProblem, take, takeQuoted, takeWhile } from './syntax.ts';

/**
 * Reads a template such as `${tenant}#${@publishTime|inverted:millis}#${id|pad:12}`: literal text, `$$` for a dollar
 * sign, and fields with modifiers that apply from left to right. Throws a {@link SyntaxProblem} with the position.
 *
 * With `isKey`, two fields must have a delimiter between them or the first a fixed width; otherwise two records could
 * share a key (`ab` + `c`, `a` + `bc`).
 */
export function parseTemplate(text: string, { isKey }: { readonly isKey: boolean }): readonly TemplatePart[] {
  const cursor: Cursor = { text, at: 0 };
  const parts: (TemplatePart & { readonly at: number })[] = [];
  while (!isAtEnd(cursor)) {
    const { at } = cursor;
    parts.push(take(cursor, '${') ? { ...takeField(cursor), at } : { kind: 'literal', text: takeLiteral(cursor), at });
  }
  if (!parts.some(({ kind }) => kind === 'field')) {
    throw new SyntaxProblem('must name at least one field, as in ${id}', 0);
  }
  return parts.map((part, index) => withDelimiter(part, parts[index + 1], parts[index + 2], isKey));
}

function takeLiteral(cursor: Cursor): string {
  let literal = '';
  while (!isAtEnd(cursor) && !cursor.text.startsWith('${', cursor.at)) {
    if (take(cursor, '$$')) literal += '$';
    else if (peek(cursor) === '$')
      throw new SyntaxProblem('write $$ for a dollar sign and ${…} for a field', cursor.at);
    else literal += takeWhile(cursor, (character) => character !== '$');
  }
  return literal;
}

interface Field {
  readonly kind: 'field';
  readonly field: FieldReference;
  readonly modifiers: readonly TemplateModifier[];
}

function takeField(cursor: Cursor): Field {
  const from = cursor.at - '${'.length;
  const field = takeFieldReference(cursor);
  const modifiers: TemplateModifier[] = [];
  while (take(cursor, '|')) {
    const { at } = cursor;
    const name = takeWhile(cursor, (character) => /[a-z0-9]/i.test(character));
    const modifier = readModifier({ name, argument: take(cursor, ':') ? takeArgument(cursor) : undefined, at });
    if ((modifier.kind === 'inverted' || modifier.kind === 'utc') && !isInstant(field, modifiers)) {
      throw new SyntaxProblem(`${name} needs an instant: write timestamp:<unit> before it`, at);
    }
    modifiers.push(modifier);
  }
  if (!take(cursor, '}')) {
    const rule = isAtEnd(cursor)
      ? 'a field must end with "}"'
      : `unexpected ${JSON.stringify(peek(cursor))} in a field`;
    throw new SyntaxProblem(rule, isAtEnd(cursor) ? from : cursor.at);
  }
  return { kind: 'field', field, modifiers };
}

const isInstant = (field: FieldReference, before: readonly TemplateModifier[]): boolean =>
  before.length === 0 ? field.from === 'publishTime' : before.at(-1)?.kind === 'timestamp';

const takeArgument = (cursor: Cursor): string =>
  peek(cursor) === '"' ? takeQuoted(cursor) : takeWhile(cursor, (character) => character !== '|' && character !== '}');

type Positioned = TemplatePart & { readonly at: number };

function withDelimiter(
  { at, ...part }: Positioned,
  next: Positioned | undefined,
  afterNext: Positioned | undefined,
  isKey: boolean,
): TemplatePart {
  if (part.kind === 'literal') return part;
  const needsNone = fixedWidth(part.modifiers) !== undefined;
  if (next?.kind === 'field' && isKey && !needsNone) {
    throw new SyntaxProblem(
      'a field needs a delimiter or a fixed width (pad, hash, salt, inverted) before the next',
      at,
    );
  }
  const delimiter = next?.kind === 'literal' && afterNext ? next.text : undefined;
  const modifiers = part.modifiers.map((modifier) => {
    if (modifier.kind !== 'escape' || modifier.characters !== '') return modifier;
    if (delimiter !== undefined) return { ...modifier, characters: delimiter };
    throw new SyntaxProblem('escape needs the characters to escape where no delimiter follows, as in escape:#', at);
  });
  return { ...part, modifiers, ...(delimiter === undefined || needsNone ? {} : { delimiter }) };
}
