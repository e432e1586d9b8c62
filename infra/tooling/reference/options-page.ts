import * as z from 'zod';
import { KINDS } from '../../../shared/config/kinds.ts';
import { optionFacts } from '../../../shared/config/option.ts';
import { nestedSections } from '../../../shared/config/read.ts';
import { code, table } from './markdown.ts';

/**
 * The reference page of all options, made of their declarations. What is true of several kinds stands in it
 * once, under the names of those kinds: first the options of every pipeline, last those of one kind alone.
 */
export function optionsPage(): string {
  const groups = Map.groupBy(documentedOptions(), ({ kinds }) => kinds.join());
  const parts = [...groups.values()]
    .toSorted(([left], [right]) => (right?.kinds.length ?? 0) - (left?.kinds.length ?? 0))
    .flatMap((options) => [`## ${titleOf(options[0]?.kinds ?? [])}`, ...tablesOf(options)]);
  return [
    '# Options',
    'Made by `npm run docs` from the declarations in `shared/config`; change those, not this page.',
    INTRODUCTION,
    ...parts,
  ].join('\n\n');
}

const INTRODUCTION = `One document, \`connector.yaml\` (or the same as JSON), holds \`defaults\` and named \`pipelines\`. A pipeline takes
from \`defaults\` what it does not set itself, of a section option by option; the options that may stand there are marked.
An unknown option is an error, and every problem of a document is reported at once. Options that several kinds share stand
first, once: a pipeline has the options of every part whose heading names its kind.
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

const ALL_KINDS = Object.keys(KINDS);

function titleOf(kinds: readonly string[]): string {
  if (kinds.length === ALL_KINDS.length) return 'Options of every pipeline';
  const [last, ...others] = kinds.map(code).toReversed();
  return `Options of ${others.length > 0 ? `${others.toReversed().join(', ')} and ` : ''}${last ?? ''}`;
}

/** An option where a person writes it. */
interface WrittenOption {
  /** What the page says of it. */
  readonly row: readonly string[];
  /** The section that it stands in, by its path; empty at the top. */
  readonly within: string;
  /** Which of the forms that this section may have. */
  readonly form: number;
}

interface DocumentedOption extends WrittenOption {
  /** Every kind of which the same is true. */
  readonly kinds: string[];
}

/** Everything that is to be said, once, in the order of the kinds and of their sections. */
function documentedOptions(): readonly DocumentedOption[] {
  const documented: DocumentedOption[] = [];
  for (const [kind, { section, shared }] of Object.entries(KINDS)) {
    for (const option of optionsIn(section, (name) => shared.includes(name))) {
      const same = documented.find(({ row }) => row.join() === option.row.join());
      if (same) same.kinds.push(kind);
      else documented.push({ ...option, kinds: [kind] });
    }
  }
  return documented;
}

/** A section's own options, each followed by those of the sections in it. A section is in the defaults as a whole. */
function optionsIn(
  section: z.ZodObject,
  isShared: (name: string) => boolean,
  within = '',
  form = 0,
): readonly WrittenOption[] {
  return Object.entries<z.core.$ZodType>(section.shape).flatMap(([name, schema]) => {
    const path = within === '' ? name : `${within}.${name}`;
    const isInDefaults = isShared(name);
    const nested = nestedSections(schema).flatMap(({ section: inner, infix }, index) =>
      optionsIn(inner, () => isInDefaults, `${path}${infix}`, index),
    );
    return [{ row: rowOf(path, schema, isInDefaults), within, form }, ...nested];
  });
}

/** A table for each section, and for each form of it; what stands at the top comes first. */
function tablesOf(options: readonly DocumentedOption[]): string[] {
  const sections = Map.groupBy(options, ({ within }) => within);
  return [...sections.entries()]
    .toSorted(([left], [right]) => Number(left !== '') - Number(right !== ''))
    .flatMap(([within, inside]) => [
      ...(within === '' ? [] : [`### ${code(within)}`]),
      ...[...Map.groupBy(inside, ({ form }) => form).values()].map((rows) =>
        table(
          HEADINGS,
          rows.map(({ row }) => row),
        ),
      ),
    ]);
}

const HEADINGS = ['Option', 'Type', 'Default', 'Allowed', 'In defaults', 'Meaning'];

function rowOf(path: string, schema: z.core.$ZodType, isInDefaults: boolean): string[] {
  const facts = optionFacts.get(schema);
  const meaning = z.globalRegistry.get(schema)?.description;
  if (!facts || meaning === undefined) throw new Error(`the option ${path} is declared without its facts`);
  return [
    code(path),
    facts.type,
    facts.isRequired ? '(required)' : facts.default === undefined ? '' : code(facts.default),
    facts.bounds ?? '',
    isInDefaults ? 'yes' : '',
    meaning,
  ];
}
