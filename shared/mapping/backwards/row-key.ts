import { RecordError } from '../../base/errors.ts';
import { printableBytes } from '../../model/bytes.ts';
import { cellCodec } from '../codecs/cell-codec.ts';
import { scalarOf } from '../codecs/cell-types.ts';
import { fixedWidth } from '../declared/modifiers.ts';
import type { ResolvedRowKey, ResolvedTemplate, TemplatePart } from '../declared/resolved.ts';
import { utf8Text } from '../codecs/bytes.ts';
import { parseJson } from '../formats/json-text.ts';
import { compileTemplate } from '../rows/template.ts';
import type { FieldValue } from '../values/field-value.ts';
import { cellText, type TrailingBytes } from './cell-text.ts';
import { fieldOfKey, lossyModifier, unescaped } from './key-part.ts';

/**
 * A row key read backwards. Whatever the fields are, the key that the mapping makes of them is this one: otherwise the row
 * is refused, because the record would write another row. Pure.
 */

type FieldPart = Extract<TemplatePart, { readonly kind: 'field' }>;

/** Fields of a row key, by place in its template. Undefined: the key does not give it. */
export interface KeyReader {
  readonly fields: (key: Buffer) => readonly (FieldValue | undefined)[];
  /** Refuses a key that the mapping does not make of the fields, some of which may have come from columns. */
  readonly check: (key: Buffer, fields: readonly (FieldValue | undefined)[]) => void;
}

export const fieldParts = ({ parts }: ResolvedTemplate): readonly FieldPart[] =>
  parts.filter((part) => part.kind === 'field');

export const compileKeyReader = (rowKey: ResolvedRowKey, trailing: TrailingBytes): KeyReader =>
  rowKey.kind === 'typed' ? typedKey(rowKey, trailing) : templateKey(rowKey.template);

const PATH = 'row key';

function typedKey({ format }: Extract<ResolvedRowKey, { kind: 'typed' }>, trailing: TrailingBytes): KeyReader {
  const read = cellText(format, trailing);
  const { encode } = cellCodec(format);
  const width = trailing === 'ignore' && format.encoding === 'binary' ? scalarOf(format.type).width : undefined;
  return {
    fields: (key) => [parseJson(read(key, PATH))],
    check: (key, [field]) => {
      const kept = width === undefined ? key : key.subarray(0, width);
      if (field !== null && field !== undefined && encode(field, PATH).equals(kept)) return;
      refuse(key, 'its type');
    },
  };
}

function templateKey(template: ResolvedTemplate): KeyReader {
  // The fields of a row are a list: each part reads its own place in it.
  let place = 0;
  const parts = template.parts.map((part): TemplatePart => {
    if (part.kind === 'literal') return part;
    return { ...part, field: { from: 'payload', path: [String(place++)], label: part.field.label } };
  });
  const render = compileTemplate({ parts, policy: template.policy }, (value) => value);
  return {
    fields: (key) => fieldsOf(template, utf8Text(key, PATH)) ?? refuse(key, 'its template'),
    check: (key, fields) => {
      const root = fields.map((field) => field ?? null);
      // No part reads anything but the fields.
      const record = { root } as unknown as Parameters<typeof render>[0];
      if (!Buffer.from(render(record)).equals(key)) refuse(key, 'its template and the fields that columns hold');
    },
  };
}

/** Each field in its place; undefined where the text is not of the template. */
function fieldsOf({ parts, policy }: ResolvedTemplate, key: string): (FieldValue | undefined)[] | undefined {
  const fields: (FieldValue | undefined)[] = [];
  const last = parts.findLastIndex(({ kind }) => kind === 'field');
  let at = 0;
  for (const [index, part] of parts.entries()) {
    if (part.kind === 'literal') {
      if (!key.startsWith(part.text, at)) return undefined;
      at += part.text.length;
      continue;
    }
    const end = endOf(part, key, at, index === last ? parts[last + 1] : undefined, index === last);
    if (end === undefined) return undefined;
    const text = key.slice(at, end);
    at = end;
    const isEscaped = part.delimiter !== undefined && policy.onDelimiter === 'escape';
    const isNull = text === '' && policy.onNull === 'empty';
    if (lossyModifier(part)) fields.push(undefined);
    else if (isNull) fields.push(null);
    else fields.push(fieldOfKey(part, isEscaped ? unescaped(text, PATH) : text));
  }
  return at === key.length ? fields : undefined;
}

/** Where the text of a field ends: by its width, before its delimiter, or, of the last one, before what is left. */
function endOf(
  part: FieldPart,
  key: string,
  at: number,
  suffix: TemplatePart | undefined,
  isLast: boolean,
): number | undefined {
  const width = fixedWidth(part.modifiers);
  if (width !== undefined) return at + width <= key.length ? at + width : undefined;
  if (part.delimiter !== undefined) {
    const end = key.indexOf(part.delimiter, at);
    return end === -1 ? undefined : end;
  }
  if (!isLast) return undefined;
  const end = key.length - (suffix?.kind === 'literal' ? suffix.text.length : 0);
  return end >= at ? end : undefined;
}

function refuse(key: Buffer, what: string): never {
  throw new RecordError(
    `${PATH}: must be what the mapping makes by ${what}, got "${printableBytes(key)}" of ${key.length} bytes: another mapping or encoding may have written the row`,
  );
}
