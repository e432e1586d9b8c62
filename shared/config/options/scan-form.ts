import { choice, type Output } from '../option.ts';
import type { Rule } from '../rules.ts';

/** What becomes of a row that a scan reads. */

export const formOptions = {
  form: choice(
    'Form of what is published: a row in JSON, a cell in JSON, or the entry that writes the row, in the bytes that serializer "entry" of the sinks reads; or nothing is published, and rows, cells and bytes are counted for each range and prefix.',
    ['row', 'cell', 'entry', 'count'],
    'row',
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
  | { readonly kind: 'count' };

export function formOf({ form, text, aggregates }: FormOptions): ResolvedScanForm {
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

export const formRules: readonly Rule<FormOptions>[] = [
  function optionsBelongToTheForm({ options: { form }, isSet }) {
    if (form === undefined) return [];
    const foreign = [
      ...(form === 'row' || form === 'cell' ? [] : (['text'] as const)),
      ...(form === 'entry' ? [] : (['aggregates'] as const)),
    ];
    return foreign
      .filter(isSet)
      .map((option) => ({ at: [option], rule: `does not apply to the form ${JSON.stringify(form)}` }));
  },
];
