import * as z from 'zod';
import { choice, declare, type Output, ruled } from '../option.ts';
import type { Rule } from '../rules.ts';
import type { ResolvedMapping } from '../../mapping/declared/resolved.ts';
import type { SelectionOptions } from './scan-selection.ts';
import { type JsonValue, mappingOption, moduleSectionOf } from './serializer.ts';

/** What becomes of a row that a scan reads. */

const FORMS = ['row', 'cell', 'entry', 'mapping', 'count'] as const;
const formBounds = `${FORMS.map((form) => JSON.stringify(form)).join(', ')} or {module, options}`;

const moduleSection = moduleSectionOf('Its default export makes messages of a row.');

export const formOptions = {
  form: declare(
    z.union([z.enum(FORMS), moduleSection], ruled(`must be one of ${formBounds}`)).prefault('row'),
    'Form of what is published: a row in JSON, a cell in JSON, or the entry that writes the row, in the bytes that serializer "entry" of the sinks reads; "mapping" makes the JSON record of which the option mapping writes the row; a module is your own code, which makes any number of messages of a row; with "count" nothing is published, and rows, cells and bytes are counted for each range and prefix.',
    { type: 'text or section', default: 'row', bounds: formBounds },
  ),
  text: choice(
    'How the forms row and cell write qualifiers and values: as base64, or as text where the bytes are valid UTF-8 and as base64 where they are not, each under a name that says which.',
    ['base64', 'utf8'],
    'base64',
  ),
  aggregates: choice(
    'Policy of the form entry for a cell of an aggregate family: it is refused by name, or it becomes an AddToCell, which adds to what the destination holds.',
    ['refuse', 'add-to-cell'],
    'refuse',
  ),
  mapping: mappingOption(
    'The mapping that is read backwards by the form mapping: the record is the JSON of which a sink with the same mapping writes the same row.',
  ),
  trailingBytes: choice(
    'Policy of the form mapping for a value or row key of a type of fixed width with more bytes than that: they are ignored, as by the readers of HBase, or the row is refused.',
    ['ignore', 'reject'],
    'ignore',
  ),
};

type FormOptions = Output<typeof formOptions>;

export type ResolvedScanForm =
  | { readonly kind: 'row' | 'cell'; readonly text: 'base64' | 'utf8' }
  | { readonly kind: 'entry'; readonly aggregates: 'refuse' | 'add-to-cell' }
  | { readonly kind: 'mapping'; readonly mapping: ResolvedMapping; readonly trailingBytes: 'ignore' | 'reject' }
  /** `module` is a path relative to the directory of the configuration. */
  | { readonly kind: 'module'; readonly module: string; readonly options?: JsonValue }
  | { readonly kind: 'count' };

/** @param mapping once it is checked: the form mapping needs it. */
export function formOf(
  { form, text, aggregates, trailingBytes }: FormOptions,
  mapping: ResolvedMapping | undefined,
): ResolvedScanForm {
  if (typeof form === 'object') {
    const { module, options } = form;
    return { kind: 'module', module, ...(options !== undefined && { options }) };
  }
  switch (form) {
    case 'row':
    case 'cell':
      return { kind: form, text };
    case 'entry':
      return { kind: form, aggregates };
    case 'mapping':
      if (!mapping) throw new TypeError('the rules let a scan pass that has the form mapping and no mapping');
      return { kind: form, mapping, trailingBytes };
    case 'count':
      return { kind: form };
    default:
      return form satisfies never;
  }
}

/** The name of a form, in messages and rules. */
export const formName = (form: string | object): ResolvedScanForm['kind'] =>
  typeof form === 'object' ? 'module' : (form as (typeof FORMS)[number]);

export const formRules: readonly Rule<FormOptions & Pick<SelectionOptions, 'families' | 'excludeFamilies'>>[] = [
  function optionsBelongToTheForm({ options, isSet }) {
    if (options.form === undefined) return [];
    const form = formName(options.form);
    const foreign = [
      ...(form === 'row' || form === 'cell' ? [] : (['text'] as const)),
      ...(form === 'entry' ? [] : (['aggregates'] as const)),
      // The mapping says which families are read.
      ...(form === 'mapping' ? (['families', 'excludeFamilies'] as const) : (['mapping', 'trailingBytes'] as const)),
    ];
    return foreign
      .filter(isSet)
      .map((option) => ({ at: [option], rule: `does not apply to the form ${JSON.stringify(form)}` }));
  },
  function mappingIsThere({ options, isSet }) {
    if (options.form !== 'mapping' || isSet('mapping')) return [];
    return [{ at: ['mapping'], rule: 'is required by the form "mapping"' }];
  },
];
