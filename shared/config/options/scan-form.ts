import * as z from 'zod';
import { choice, declare, type Output, ruled } from '../option.ts';
import type { Rule } from '../rules.ts';
import { type JsonValue, moduleSectionOf } from './serializer.ts';

/** What becomes of a row that a scan reads. */

const FORMS = ['row', 'cell', 'entry', 'count'] as const;
const formBounds = `${FORMS.map((form) => JSON.stringify(form)).join(', ')} or {module, options}`;

const moduleSection = moduleSectionOf('Its default export makes messages of a row.');

export const formOptions = {
  form: declare(
    z.union([z.enum(FORMS), moduleSection], ruled(`must be one of ${formBounds}`)).prefault('row'),
    'Form of what is published: a row in JSON, a cell in JSON, or the entry that writes the row, in the bytes that serializer "entry" of the sinks reads; a module is your own code, which makes any number of messages of a row; with "count" nothing is published, and rows, cells and bytes are counted for each range and prefix.',
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
};

type FormOptions = Output<typeof formOptions>;

export type ResolvedScanForm =
  | { readonly kind: 'row' | 'cell'; readonly text: 'base64' | 'utf8' }
  | { readonly kind: 'entry'; readonly aggregates: 'refuse' | 'add-to-cell' }
  /** `module` is a path relative to the directory of the configuration. */
  | { readonly kind: 'module'; readonly module: string; readonly options?: JsonValue }
  | { readonly kind: 'count' };

export function formOf({ form, text, aggregates }: FormOptions): ResolvedScanForm {
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
    case 'count':
      return { kind: form };
    default:
      return form satisfies never;
  }
}

/** The name of a form, in messages and rules. */
export const formName = (form: string | object): ResolvedScanForm['kind'] =>
  typeof form === 'object' ? 'module' : (form as (typeof FORMS)[number]);

export const formRules: readonly Rule<FormOptions>[] = [
  function optionsBelongToTheForm({ options, isSet }) {
    if (options.form === undefined) return [];
    const form = formName(options.form);
    const foreign = [
      ...(form === 'row' || form === 'cell' ? [] : (['text'] as const)),
      ...(form === 'entry' ? [] : (['aggregates'] as const)),
    ];
    return foreign
      .filter(isSet)
      .map((option) => ({ at: [option], rule: `does not apply to the form ${JSON.stringify(form)}` }));
  },
];
