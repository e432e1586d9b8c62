import { mappingJsonSchema } from '../../../shared/config/json-schema.ts';
import { code, table } from './markdown.ts';

/** What of JSON Schema the declarations of a mapping make use of. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

/** The reference page of a mapping's options, made of their declarations: a table per section. */
export function mappingPage(): string {
  return [
    '# Mapping',
    'Made by `npm run docs` from the declarations in `shared/mapping/declared`; change those, not this page.',
    INTRODUCTION,
    ...sections('mapping', mappingJsonSchema()),
  ].join('\n\n');
}

const INTRODUCTION = `A pipeline's \`mapping\` says what a record becomes, without code. \`npm run connector -- map <pipeline> <file>\` shows it for a
sample record, without a network. An unknown option is an error; an option that the write mode has no use for is one too.`;

/** A table of the section's own options, then the sections below it. */
function sections(path: string, schema: Schema): string[] {
  const forms = formsOf(schema).filter(({ properties }) => properties);
  return forms.flatMap((form) => {
    const options = Object.entries(form.properties ?? {});
    if (options.length === 0) return [];
    const rows = options.map(([name, option]) => [
      code(name),
      typeOf(option),
      form.required?.includes(name) ? 'yes' : '',
      option.description ?? '',
    ]);
    return [
      `## ${code(path)}`,
      table(['Option', 'Type', 'Required', 'Meaning'], rows),
      ...options.flatMap(([name, option]) => nested(`${path}.${name}`, option)),
    ];
  });
}

/** The sections that an option holds: itself, the elements of a list, the values of a map. */
function nested(path: string, schema: Schema): string[] {
  return formsOf(schema).flatMap((form) => {
    if (form.properties) return sections(path, form);
    if (form.items) return nested(`${path}[]`, form.items);
    const values = form.additionalProperties;
    return typeof values === 'object' ? nested(`${path}.<name>`, values) : [];
  });
}

const formsOf = (schema: Schema): readonly Schema[] => schema.anyOf?.flatMap(formsOf) ?? [schema];

function typeOf(schema: Schema): string {
  const names = formsOf(schema).map((form) => {
    if (form.const !== undefined) return JSON.stringify(form.const);
    if (form.enum) return form.enum.map((value) => JSON.stringify(value)).join(', ');
    if (form.items) return 'list';
    if (form.properties) return 'section';
    if (form.additionalProperties) return 'map';
    return [form.type ?? 'any'].flat().map(typeWord).join(' or ');
  });
  return [...new Set(names)].join(' or ');
}

const typeWord = (type: string): string => (type === 'string' ? 'text' : type);
