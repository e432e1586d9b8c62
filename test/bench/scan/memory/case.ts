import type { BenchCase, CaseReport } from '../../support/case.ts';
import { chart, type Point } from '../../support/chart.ts';
import { usageProblem } from '../../support/process-usage.ts';
import { runProgram } from '../../support/program.ts';
import { interleave } from '../../support/rounds.ts';
import { ratioOf } from '../../support/statistics.ts';

const FULL_STALL_MILLIS = 30_000;
const QUICK_STALL_MILLIS = 12_000;
const WARM_UP_MILLIS = 6_000;
const FULL_ROUNDS = 3;

/** The default of `maxOutstandingBytes`, and what the process may take beside. */
const OUTSTANDING_MIB = 64;
const CONSTANT_MIB = 64;

const GROWTH = 'peak RSS − baseline, MiB';

export interface MemoryArgument {
  readonly rows: number;
  readonly valueBytes: number;
  readonly tablets: number;
  /** Of the pipeline, beside the defaults. */
  readonly options: Readonly<Record<string, string | number>>;
  /** Of one stream, before the stall. */
  readonly rowsPerSecond: number;
  readonly warmUpMillis: number;
  readonly stallMillis: number;
  /** Read behind all others, from a topic that does not stall. */
  readonly largeRow?: { readonly cells: number; readonly cellBytes: number };
}

export interface MemoryResult {
  /** Resident, in MiB. */
  readonly baseline: number;
  readonly points: readonly Point[];
}

type Subject = Pick<MemoryArgument, 'rows' | 'valueBytes' | 'options' | 'rowsPerSecond' | 'largeRow'> & {
  readonly name: string;
};

const KIB = 1024;
const MIB = 1024 * KIB;

const SUBJECTS: readonly Subject[] = [
  { name: 'rows of 1 KiB', rows: 400_000, valueBytes: KIB, options: {}, rowsPerSecond: 500 },
  {
    name: 'rows of 1 KiB, 100 a message',
    rows: 400_000,
    valueBytes: KIB,
    options: { maxRecordsPerMessage: 100 },
    rowsPerSecond: 500,
  },
  { name: 'rows of 256 KiB', rows: 2048, valueBytes: 256 * KIB, options: {}, rowsPerSecond: 5 },
  // And what four streams read of them while it warms up.
  { name: '384 rows of 256 KiB', rows: 384 + 32, valueBytes: 256 * KIB, options: {}, rowsPerSecond: 1 },
  {
    name: 'one row of 200 MiB, parts',
    ...{ rows: 100_000, valueBytes: KIB, rowsPerSecond: 500 },
    options: { oversizedMessage: 'parts' },
    largeRow: { cells: 20, cellBytes: 10 * MIB },
  },
];

/** What the process may grow by: a large row costs its own size more, once. */
const allowedMiB = ({ largeRow }: Subject): number =>
  OUTSTANDING_MIB + CONSTANT_MIB + (largeRow ? (largeRow.cells * largeRow.cellBytes) / MIB : 0);

/** Resident memory of a slot whose topic takes requests and answers none, and of one that reads a large row. */
export const scanMemoryCase: BenchCase = {
  name: 'memory',
  title: `Memory: the topic stalls while a slot reads as fast as it can, maxOutstandingBytes ${OUTSTANDING_MIB} MiB`,
  async run(settings): Promise<CaseReport> {
    const reason = usageProblem();
    if (reason !== undefined) return { kind: 'skipped', reason };
    const stallMillis = settings.isQuick ? QUICK_STALL_MILLIS : FULL_STALL_MILLIS;
    const curves = new Map<string, readonly Point[]>();
    const measured = await interleave(
      settings.runs ?? (settings.isQuick ? 1 : FULL_ROUNDS),
      SUBJECTS.map((subject) => ({
        name: subject.name,
        measure: async () => {
          const { baseline, points } = await measure(subject, stallMillis);
          curves.set(subject.name, points);
          return {
            'baseline RSS, MiB': baseline,
            [GROWTH]: Math.max(...points.map(({ value }) => value)) - baseline,
          };
        },
      })),
      settings,
    );
    return {
      kind: 'measured',
      series: measured.series(),
      ratios: SUBJECTS.map((subject) => {
        const growth = measured.values(subject.name, GROWTH);
        const allowed = allowedMiB(subject);
        return ratioOf(
          `${subject.name}: growth / allowed ${allowed} MiB`,
          growth,
          growth.map(() => allowed),
          { atMost: 1 },
        );
      }),
      notes: [
        `Allowed: the bytes outstanding, ${CONSTANT_MIB} MiB, and a large row once. Resident memory of the last round:`,
        ...[...curves].flatMap(([name, points]) => [name, chart(points, 'MiB')]),
      ],
    };
  },
};

function measure(
  { rows, valueBytes, options, rowsPerSecond, largeRow }: Subject,
  stallMillis: number,
): Promise<MemoryResult> {
  const argument: MemoryArgument = {
    ...{ rows, valueBytes, options, rowsPerSecond, ...(largeRow && { largeRow }), tablets: 16 },
    ...{ warmUpMillis: WARM_UP_MILLIS, stallMillis },
  };
  return runProgram<MemoryResult>(new URL('program.ts', import.meta.url), argument);
}
