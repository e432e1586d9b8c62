import type { ResolvedTemplate, TemplateModifier, TemplatePart, TemplatePolicy } from '../declared/resolved.ts';
import { compileField, type DecodedRecord, type Settle } from '../values/fields.ts';
import { type FieldValue, refuseValue } from '../values/field-value.ts';
import { compileModifier, escaper, templateText } from './template-modifiers.ts';

type Render = (record: DecodedRecord) => string;

/**
 * Compiles a template to the closure that renders it. Where its policy rejects, two records that differ in a field do
 * not share a text because one field ran into the next: no field is empty, and none contains the delimiter behind it.
 * Throws a `RecordError` that names the field.
 */
export function compileTemplate({ parts, policy }: ResolvedTemplate, settle: Settle): Render {
  const renders = parts.map((part) => compilePart(part, policy, settle));
  return (record) => {
    let text = '';
    for (const render of renders) text += render(record);
    return text;
  };
}

function compilePart(part: TemplatePart, policy: TemplatePolicy, settle: Settle): Render {
  if (part.kind === 'literal') return () => part.text;
  const read = compileField(part.field, settle);
  const { label } = part.field;
  const modify = compileModifiers(part.modifiers);
  const separate = compileDelimiter(part.delimiter, policy);
  return (record) => {
    const raw = read(record);
    const value = modify(raw, label);
    if (value === null || value === undefined) {
      const rule = raw === undefined ? 'must be there' : 'must not be null';
      return policy.onNull === 'empty' ? '' : refuseValue(label, rule, raw);
    }
    const text = separate(templateText(value, label), label);
    return text === '' && policy.onEmpty === 'reject' ? refuseValue(label, 'must not be empty', text) : text;
  };
}

type Modify = (value: FieldValue | undefined, path: string) => FieldValue | undefined;

/** Nothing passes through as nothing, until a `default` stands in for it. */
function compileModifiers(modifiers: readonly TemplateModifier[]): Modify {
  return modifiers.map(compileOne).reduce<Modify>(
    (before, step) => (value, path) => step(before(value, path), path),
    (value) => value,
  );
}

function compileOne(modifier: TemplateModifier): Modify {
  if (modifier.kind === 'default') {
    return (value) => (value === null || value === undefined || value === '' ? modifier.text : value);
  }
  const step = compileModifier(modifier);
  return (value, path) => (value === null || value === undefined ? value : step(value, path));
}

function compileDelimiter(
  delimiter: string | undefined,
  policy: TemplatePolicy,
): (text: string, path: string) => string {
  if (delimiter === undefined || policy.onDelimiter === 'allow') return (text) => text;
  const escape = policy.onDelimiter === 'escape' ? escaper(delimiter) : undefined;
  return (value, path) => {
    const text = escape ? escape(value, path) : value;
    // The first delimiter must be the one behind the value, also where the value ends like a delimiter begins.
    if (`${text}${delimiter}`.indexOf(delimiter) === text.length) return text;
    return refuseValue(path, `must not contain the delimiter ${JSON.stringify(delimiter)} of the template`, text);
  };
}
