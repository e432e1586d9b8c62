import { mappingJsonSchema } from '../../../shared/config/json-schema.ts';
import { FATES, REDELIVERED } from '../../../shared/mapping/declared/redelivery.ts';
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
    REDELIVERY,
    redelivered(),
    TIMES,
    ...sections('mapping', mappingJsonSchema()),
  ].join('\n\n');
}

const INTRODUCTION = `A pipeline's \`mapping\` says what a record becomes, without code. \`npm run connector -- map <pipeline> <file>\` shows it for a
sample record, without a network. An unknown option is an error; an option that the write mode has no use for is one too.`;

const REDELIVERY = `## What a redelivery changes

Pub/Sub may deliver a message again, after newer ones too, or late; and the record of a dead letter that is published back is as late as its letter
was. Its cells keep the timestamp that they had at first. This is what becomes of the row where a newer record was applied before:`;

const redelivered = (): string =>
  table(
    ['written by', 'an older record that is delivered again', 'an older record that arrives late'],
    REDELIVERED.map(({ what, again, late }) => [what, FATES[again], FATES[late]]),
  );

const TIMES = `- In a \`staged-sink\`, and in a \`request-sink\` with \`replayProtection\`, a record that is delivered again changes nothing at all: the first column does
  not apply. The second does.
- Of cells with one timestamp the one that is applied last stays. The publish time counts milliseconds: records of one cell that are published in the same
  millisecond need a \`timestamp\` of their own, or \`ordering: row\`.
- A deletion leaves nothing behind that could bound an older record: an older cell that is written after it is there again, by a redelivery too.
- The service bounds the deletion of a column by a time, and neither that of a row nor that of a family. Where records may be delivered again after newer
  ones, delete columns.
- Records of the serializer \`entry\` and of modules do what their mutations say: \`SERVER_TIME\` adds a version each time, and a deletion without an end
  deletes what is newer.`;

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
