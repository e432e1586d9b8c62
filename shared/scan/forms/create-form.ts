import type { ResolvedScanForm } from '../../config/resolved.ts';
import { entryForm, type FamilyTypes } from './entry-form.ts';
import type { Form } from './form.ts';
import { cellForm, rowForm } from './json-form.ts';

export interface FormContext {
  /** Several records share a message, one a line. */
  readonly isPacked: boolean;
  /** Of the table: what the form `entry` needs to know of its families. */
  readonly families: FamilyTypes;
}

/** The form that a configuration names; undefined where nothing is published. */
export function createForm(form: ResolvedScanForm, { isPacked, families }: FormContext): Form | undefined {
  switch (form.kind) {
    case 'row':
      return rowForm(form.text);
    case 'cell':
      return cellForm(form.text);
    case 'entry':
      return entryForm(form.aggregates, isPacked, families);
    case 'count':
      return undefined;
    default:
      return form satisfies never;
  }
}
