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
const ALLOWED_MIB = OUTSTANDING_MIB + CONSTANT_MIB;

const GROWTH = 'peak RSS while it stalls − baseline, MiB';

export interface MemoryArgument {
  readonly rows: number;
  readonly valueBytes: number;
  readonly tablets: number;
  readonly maxRecordsPerMessage: number;
  /** Of one stream, before the stall. */
  readonly rowsPerSecond: number;
  readonly warmUpMillis: number;
  readonly stallMillis: number;
}

export interface MemoryResult {
  /** Resident, in MiB. */
  readonly baseline: number;
  readonly points: readonly Point[];
}

type Subject = Pick<MemoryArgument, 'rows' | 'valueBytes' | 'maxRecordsPerMessage' | 'rowsPerSecond'> & {
  readonly name: string;
};

const KIB = 1024;

const SUBJECTS: readonly Subject[] = [
  { name: 'rows of 1 KiB', rows: 400_000, valueBytes: KIB, maxRecordsPerMessage: 1, rowsPerSecond: 500 },
  {
    name: 'rows of 1 KiB, 100 a message',
    rows: 400_000,
    valueBytes: KIB,
    maxRecordsPerMessage: 100,
    rowsPerSecond: 500,
  },
  { name: 'rows of 256 KiB', rows: 2048, valueBytes: 256 * KIB, maxRecordsPerMessage: 1, rowsPerSecond: 5 },
];

/** Resident memory of a slot whose topic takes requests and answers none. */
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
      ratios: SUBJECTS.map(({ name }) => {
        const growth = measured.values(name, GROWTH);
        return ratioOf(
          `${name}: growth / allowed ${ALLOWED_MIB} MiB`,
          growth,
          growth.map(() => ALLOWED_MIB),
          { atMost: 1 },
        );
      }),
      notes: [
        `Allowed: the bytes outstanding and ${CONSTANT_MIB} MiB. Resident memory of the last round:`,
        ...[...curves].flatMap(([name, points]) => [name, chart(points, 'MiB')]),
      ],
    };
  },
};

function measure(
  { rows, valueBytes, maxRecordsPerMessage, rowsPerSecond }: Subject,
  stallMillis: number,
): Promise<MemoryResult> {
  const argument: MemoryArgument = {
    ...{ rows, valueBytes, maxRecordsPerMessage, rowsPerSecond, tablets: 16 },
    ...{ warmUpMillis: WARM_UP_MILLIS, stallMillis },
  };
  return runProgram<MemoryResult>(new URL('program.ts', import.meta.url), argument);
}
