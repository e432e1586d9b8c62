import * as z from 'zod';
import { KINDS } from '../../../shared/config/kinds.ts';
import { optionFacts, type OptionFacts } from '../../../shared/config/option.ts';
import { nestedSections } from '../../../shared/config/read.ts';
import { code, table } from './markdown.ts';

/** The reference page of all options, made of their declarations. */
export function optionsPage(): string {
  const kinds = Object.entries(KINDS).flatMap(([name, { section, shared }]) => [
    `## Pipelines of kind ${code(name)}`,
    ...sectionTables(section, (option) => shared.includes(option)),
  ]);
  return [
    '# Options',
    'Made by `npm run docs` from the declarations in `shared/config`; change those, not this page.',
    INTRODUCTION,
    ...kinds,
  ].join('\n\n');
}

const INTRODUCTION = `One document, \`connector.yaml\` (or the same as JSON), holds \`defaults\` and named \`pipelines\`. A pipeline takes
from \`defaults\` what it does not set itself, of a section option by option; the options that may stand there are marked.
An unknown option is an error, and every problem of a document is reported at once.
\`shared/config/connector.schema.json\` lets an editor complete and check it.

- A duration is a whole number and its unit: \`250ms\`, \`10s\`, \`5m\`, \`1h\`, \`7d\`; at most about 292 years.
- A size is a whole number and its unit: \`512B\`, \`64KiB\`, \`4MiB\`, \`1GiB\`, or the decimal \`kB\`, \`MB\`, \`GB\`.
- A bare number is neither.

The environment says which document and which pipeline a function serves:

| Variable | Meaning |
| --- | --- |
| \`CONNECTOR_CONFIG\` | The document itself. Never with \`CONNECTOR_CONFIG_FILE\`. |
| \`CONNECTOR_CONFIG_FILE\` | Path of the document; without either variable \`connector.yaml\` in the working directory. |
| \`CONNECTOR_PIPELINE\` | Name of the pipeline; may be left out where there is exactly one of the kind that the function serves. |`;

interface Row {
  readonly name: string;
  readonly facts: OptionFacts;
  readonly meaning: string;
  readonly isShared: boolean;
}

/** A table of a section's own options, then the tables of the sections in it. A section is in the defaults as a whole. */
function sectionTables(section: z.ZodObject, isShared: (name: string) => boolean, prefix = ''): string[] {
  const options = Object.entries<z.core.$ZodType>(section.shape);
  const rows = options.map(([name, schema]) => row(`${prefix}${name}`, schema, isShared(name)));
  const nested = options.flatMap(([name, schema]) => {
    const forms = nestedSections(schema);
    const path = `${prefix}${name}${forms[0]?.infix ?? ''}`;
    const tables = forms.flatMap(({ section: inner }) => sectionTables(inner, () => isShared(name), `${path}.`));
    return forms.length > 0 ? [`### ${code(path)}`, ...tables] : [];
  });
  return [table(HEADINGS, rows.map(cells)), ...nested];
}

function row(name: string, schema: z.core.$ZodType, isShared: boolean): Row {
  const facts = optionFacts.get(schema);
  const meaning = z.globalRegistry.get(schema)?.description;
  if (!facts || meaning === undefined) throw new Error(`the option ${name} is declared without its facts`);
  return { name, facts, meaning, isShared };
}

const HEADINGS = ['Option', 'Type', 'Default', 'Allowed', 'In defaults', 'Meaning'];

const cells = ({ name, facts, meaning, isShared }: Row): string[] => [
  code(name),
  facts.type,
  facts.isRequired ? '(required)' : facts.default === undefined ? '' : code(facts.default),
  facts.bounds ?? '',
  isShared ? 'yes' : '',
  meaning,
];
