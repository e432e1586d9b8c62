import type { ResolvedScanForm } from '../../config/resolved.ts';
import { entryForm, type FamilyTypes } from './entry-form.ts';
import type { Form } from './form.ts';
import { cellForm, rowForm } from './json-form.ts';
import { mappingForm } from './mapping-form.ts';
import { loadModuleForm } from './module-form.ts';

export interface FormContext {
  /** Several records share a message, one a line. */
  readonly isPacked: boolean;
  /** Of the table, asked for by the form `entry` alone: see `family-types.ts`. */
  readonly readFamilyTypes: () => Promise<FamilyTypes>;
  /** What is deployed: a run names its module by this, since code cannot be frozen and its path differs in a bundle. */
  readonly deployed: { readonly form: ResolvedScanForm; readonly baseDirectory: string };
}

/**
 * The form that a run was started with; undefined where nothing is published. Once for each run and session. Rejects with
 * a `ConfigError` where a module does not load, and as `readFamilyTypes` does.
 */
export async function createForm(
  form: ResolvedScanForm,
  { isPacked, readFamilyTypes, deployed }: FormContext,
): Promise<Form | undefined> {
  switch (form.kind) {
    case 'row':
      return rowForm(form.text);
    case 'cell':
      return cellForm(form.text);
    case 'entry':
      return entryForm(form.aggregates, isPacked, await readFamilyTypes());
    case 'mapping':
      return mappingForm(form.mapping, form.trailingBytes);
    case 'module':
      return loadModuleForm(deployedModule(deployed.form, form.options), deployed.baseDirectory, isPacked);
    case 'count':
      return undefined;
    default:
      return form satisfies never;
  }
}

function deployedModule(deployed: ResolvedScanForm, options: unknown): { module: string; options?: unknown } {
  if (deployed.kind === 'module') return { module: deployed.module, options };
  throw new Error(
    `the run was started with a module as its form, and the deployed pipeline has the form ${deployed.kind}: deploy the configuration that started it, or cancel the run`,
  );
}
