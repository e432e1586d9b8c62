import type { Form } from './form.ts';

/** The attributes that a scan sets on its messages. Pure data: the page of the scan source is held to it. */
export const SCAN_ATTRIBUTES = {
  run: { name: 'run', meaning: 'the id of the run' },
  split: { name: 'split', meaning: 'the split that its rows belong to' },
  form: { name: 'form', meaning: '`row`, `cell`, `entry`, `mapping` or `module`' },
  version: { name: 'form-version', meaning: 'another one, another shape' },
  kind: { name: 'kind', meaning: '`run-completed` of the message that tells the end of a run; no other has it' },
  pipeline: { name: 'pipeline', meaning: 'of that message: the name of the pipeline' },
} as const;

export const attributesOf = (run: string, split: string, form: Form | undefined): Readonly<Record<string, string>> => ({
  [SCAN_ATTRIBUTES.run.name]: run,
  [SCAN_ATTRIBUTES.split.name]: split,
  ...(form && {
    [SCAN_ATTRIBUTES.form.name]: form.name,
    [SCAN_ATTRIBUTES.version.name]: String(form.version),
  }),
});
