import { fileURLToPath } from 'node:url';
import { codedForm } from '../flights/form.ts';
import type { FlightForm } from './form.ts';
import { mappedForm } from '../mapped/form.ts';

/** One pipeline that the demo can run: its deployment, and the form of the flights that it takes. */
export interface DemoPipeline {
  readonly configFile: string;
  readonly tablesFile: string;
  readonly form: FlightForm;
}

export const DEMO_PIPELINE_NAMES = ['flights', 'mapped'] as const;
export type DemoPipelineName = (typeof DEMO_PIPELINE_NAMES)[number];

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Each has a configuration of its own: a person who tries one needs to look at nothing else. */
export const DEMO_PIPELINES: Readonly<Record<DemoPipelineName, DemoPipeline>> = {
  flights: {
    configFile: file('../flights/connector.yaml'),
    tablesFile: file('../flights/tables.yaml'),
    form: codedForm,
  },
  mapped: { configFile: file('../mapped/connector.yaml'), tablesFile: file('../mapped/tables.yaml'), form: mappedForm },
};
