import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { format } from 'prettier';
import { envelopeJsonSchema } from '../../../shared/change-stream/forms/envelope-schema.ts';
import { connectorJsonSchema } from '../../../shared/config/json-schema.ts';
import { cellJsonSchema, rowJsonSchema } from '../../../shared/scan/forms/record-schemas.ts';
import { requestJsonSchema, resultJsonSchema } from '../../../shared/single-row/forms/json-schema.ts';
import { entryPointsTable, rolesTable, sizesTable } from './entry-points-page.ts';
import { attributesTable, scanAttributesTable } from './letters-page.ts';
import { mappingPage } from './mapping-page.ts';
import { metricsPage } from './metrics-page.ts';
import { optionsPage } from './options-page.ts';
import { withSections } from './sections.ts';

/** A checked-in file that is made of the source, whole or in sections, so that the two cannot disagree. */
export interface GeneratedFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly script: 'schema' | 'docs';
  readonly content: () => Promise<string>;
}

/** As `npm run format` would leave it. */
const markdown = (text: string): Promise<string> => format(text, { parser: 'markdown', printWidth: 120 });

const root = resolve(import.meta.dirname, '../../..');

/** A page written by hand, its sections made anew. */
const sectionsOf = async (path: string, sections: Readonly<Record<string, string>>): Promise<string> =>
  markdown(withSections(await readFile(resolve(root, path), 'utf8'), sections));

const json = (schema: object): Promise<string> => Promise.resolve(`${JSON.stringify(schema, undefined, 2)}\n`);

export const GENERATED_FILES: readonly GeneratedFile[] = [
  { path: 'shared/config/connector.schema.json', script: 'schema', content: () => json(connectorJsonSchema()) },
  { path: 'shared/single-row/row-request.schema.json', script: 'schema', content: () => json(requestJsonSchema()) },
  { path: 'shared/single-row/row-result.schema.json', script: 'schema', content: () => json(resultJsonSchema()) },
  { path: 'shared/scan/forms/row.schema.json', script: 'schema', content: () => json(rowJsonSchema()) },
  { path: 'shared/scan/forms/cell.schema.json', script: 'schema', content: () => json(cellJsonSchema()) },
  {
    path: 'shared/change-stream/forms/envelope.schema.json',
    script: 'schema',
    content: () => json(envelopeJsonSchema()),
  },
  { path: 'shared/docs/options.md', script: 'docs', content: () => markdown(optionsPage()) },
  { path: 'shared/docs/mapping.md', script: 'docs', content: () => markdown(mappingPage()) },
  { path: 'shared/docs/metrics.md', script: 'docs', content: () => markdown(metricsPage()) },
  {
    path: 'shared/docs/dead-letters.md',
    script: 'docs',
    content: () =>
      sectionsOf('shared/docs/dead-letters.md', {
        attributes: attributesTable(),
        'scan attributes': scanAttributesTable(),
      }),
  },
  {
    path: 'functions/README.md',
    script: 'docs',
    content: () =>
      sectionsOf('functions/README.md', {
        'entry points': entryPointsTable(),
        sizes: sizesTable(),
        roles: rolesTable(),
      }),
  },
];
