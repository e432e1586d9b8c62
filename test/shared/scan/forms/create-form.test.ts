import { resolve } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { ResolvedScanForm } from '../../../../shared/config/resolved.ts';
import { createForm } from '../../../../shared/scan/forms/create-form.ts';
import { rowOf } from './rows.ts';

const baseDirectory = resolve(import.meta.dirname, '../../../support/modules');

function formOf(form: ResolvedScanForm, deployed = form) {
  const readFamilyTypes = vi.fn(() => Promise.resolve(new Map<string, string>()));
  const made = createForm(form, { isPacked: false, readFamilyTypes, deployed: { form: deployed, baseDirectory } });
  return { made, readFamilyTypes };
}

test('the form count makes nothing', async () => {
  expect(await formOf({ kind: 'count' }).made).toBeUndefined();
});

test('the table is asked for the types of its families by the form entry alone, once', async () => {
  const { made, readFamilyTypes } = formOf({ kind: 'entry', aggregates: 'refuse' });
  expect(await made).toMatchObject({ name: 'entry' });
  expect(readFamilyTypes).toHaveBeenCalledOnce();
  for (const kind of ['row', 'cell'] as const) {
    const other = formOf({ kind, text: 'base64' });
    expect(await other.made).toMatchObject({ name: kind });
    expect(other.readFamilyTypes).not.toHaveBeenCalled();
  }
});

test('a run has the options of its start and the module that is deployed', async () => {
  const started = { kind: 'module', module: 'as-it-was-on-a-laptop.ts', options: { prefix: 'started' } } as const;
  const deployed = { kind: 'module', module: './row-module.ts', options: { prefix: 'deployed' } } as const;
  const form = await formOf(started, deployed).made;
  expect(form?.records(rowOf('k')).map(String)).toEqual(['started:k']);
});

test('a run of a module is refused where none is deployed any more', async () => {
  const { made } = formOf({ kind: 'module', module: './row-module.ts' }, { kind: 'count' });
  await expect(made).rejects.toThrow(
    'the run was started with a module as its form, and the deployed pipeline has the form count: deploy the configuration that started it, or cancel the run',
  );
});
