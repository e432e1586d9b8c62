import { DEPARTURE_COUNT } from './departures.ts';
import { FLIGHTS } from './flights.ts';
import type { RunOptions } from './run-options.ts';
import { runDemo } from './run.ts';
import { runRequestsDemo } from './requests/run.ts';
import { runStagedDemo } from './staged/run.ts';

/** One thing that the demo can show. */
export interface Demo {
  /** In the words of `--help`. */
  readonly about: string;
  readonly flights: { readonly byDefault: number; readonly atMost: number };
  /** True when everything is as it must be. */
  readonly run: (options: RunOptions) => Promise<boolean>;
}

const BULK_FLIGHTS = { byDefault: 60_000, atMost: FLIGHTS };

export const DEMO_NAMES = ['flights', 'mapped', 'staged', 'requests'] as const;
export type DemoName = (typeof DEMO_NAMES)[number];

export const DEMOS: Readonly<Record<DemoName, Demo>> = {
  flights: {
    about: 'rows are made by a serializer, in TypeScript',
    flights: BULK_FLIGHTS,
    run: (options) => runDemo({ ...options, pipeline: 'flights' }),
  },
  mapped: {
    about: 'by a mapping, in YAML alone',
    flights: BULK_FLIGHTS,
    run: (options) => runDemo({ ...options, pipeline: 'mapped' }),
  },
  staged: {
    about: 'sums that must be exact, with a committer that is killed',
    flights: { byDefault: 6000, atMost: DEPARTURE_COUNT },
    run: runStagedDemo,
  },
  requests: {
    about: 'conditional writes by a mapping, each answered',
    flights: { byDefault: 2000, atMost: DEPARTURE_COUNT },
    run: runRequestsDemo,
  },
};
