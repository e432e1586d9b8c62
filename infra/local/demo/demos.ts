import { DEPARTURE_COUNT } from './base/departures.ts';
import { FLIGHTS } from './base/flights.ts';
import type { RunOptions } from './base/run.ts';
import { runDemo } from './bulk/run.ts';
import { runRequestsDemo } from './requests/run.ts';
import { runScanDemo } from './scan/run.ts';
import { runStagedDemo } from './staged/run.ts';

/** One thing that the demo can show. */
export interface Demo {
  /** In the words of `--help`. */
  readonly about: string;
  /** Flights that are published; or rows of a table that is read, each a flight. */
  readonly flights: { readonly byDefault: number; readonly atMost: number; readonly calledRows?: true };
  /** With the default number of flights, on a laptop. */
  readonly takes: string;
  /** What of its own stands in its report, beside the counts. */
  readonly shows: string;
  /** True when everything is as it must be. */
  readonly run: (options: RunOptions) => Promise<boolean>;
}

const BULK_TELLS = {
  takes: 'about half a minute',
  shows: 'deliveries, dead letters by reason, throughput, and the time from publish to readable',
} as const;
const BULK_FLIGHTS = { byDefault: 60_000, atMost: FLIGHTS };

export const DEMO_NAMES = ['flights', 'mapped', 'staged', 'requests', 'scan'] as const;
export type DemoName = (typeof DEMO_NAMES)[number];

/** For the start of a run: how long it takes, and what it prints. */
export const announce = ({ takes, shows }: Pick<Demo, 'takes' | 'shows'>): string =>
  [
    `This takes ${takes}. It prints where everything runs, what is published, and how far it is. At the end it prints`,
    `${shows},`,
    'and every count beside what it must be. The last line says whether all are right.',
    '',
    '',
  ].join('\n');

export const DEMOS: Readonly<Record<DemoName, Demo>> = {
  flights: {
    about: 'rows are made by a serializer, in TypeScript',
    flights: BULK_FLIGHTS,
    ...BULK_TELLS,
    run: (options) => runDemo({ ...options, pipeline: 'flights' }),
  },
  mapped: {
    about: 'by a mapping, in YAML alone',
    flights: BULK_FLIGHTS,
    ...BULK_TELLS,
    run: (options) => runDemo({ ...options, pipeline: 'mapped' }),
  },
  staged: {
    about: 'sums that must be exact, with a committer that is killed and records that are refused',
    flights: { byDefault: 6000, atMost: DEPARTURE_COUNT },
    takes: 'about a minute',
    shows: 'every checkpoint with its times, what went wrong on purpose, and what is set apart',
    run: runStagedDemo,
  },
  requests: {
    about: 'conditional writes by a mapping, each answered',
    flights: { byDefault: 2000, atMost: DEPARTURE_COUNT },
    takes: 'about a quarter of a minute',
    shows: 'results, answers over HTTP, and what went wrong on purpose',
    run: runRequestsDemo,
  },
  scan: {
    about: 'a table read once by four slots, one of which is killed, then copied into another table',
    flights: { byDefault: 300_000, atMost: 1_000_000, calledRows: true },
    takes: 'about two minutes',
    shows: 'what went wrong on purpose, rows that came twice and why, and how fast the copy went',
    run: runScanDemo,
  },
};
