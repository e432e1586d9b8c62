import type { BenchCase, BenchSettings, CaseReport } from '../../support/case.ts';
import { startNullServer } from '../../support/null-server.ts';
import { runProgram } from '../../support/program.ts';
import { interleave } from '../../support/rounds.ts';
import { ratioOf } from '../../support/statistics.ts';
import type { LayerArgument, LayerResult } from './layers.ts';

const FULL_ROUNDS = 5;
const QUICK_ROUNDS = 1;

/** Rows of one measurement: seconds of work. */
const SIZES = [
  { name: '1 KiB', valueBytes: 1024, rows: 250_000, packed: 3 },
  { name: '100 B', valueBytes: 100, rows: 800_000, packed: 5 },
] as const;

type Size = (typeof SIZES)[number];

const PACKED = 100;
const WARM_UP_SHARE = 0.25;
const QUICK_SHARE = 0.1;

const RATE = 'rows per CPU second';

const SUBJECTS = {
  single: { name: 'ours, a row a message', client: 'ours', perMessage: 1 },
  packed: { name: `ours, ${PACKED} rows a message`, client: 'ours', perMessage: PACKED },
  official: { name: 'official clients', client: 'official', perMessage: 1 },
} as const;

type Subject = (typeof SUBJECTS)[keyof typeof SUBJECTS];

/** Rows of a table in confirmed messages, for each second of the CPU of the process that reads and publishes. */
export const wholeCase: BenchCase = {
  name: 'whole',
  title: 'From table to topic: rows per CPU second, null server',
  async run(settings): Promise<CaseReport> {
    await using server = await startNullServer();
    const pairs = SIZES.flatMap((size) => Object.values(SUBJECTS).map((subject) => ({ size, subject })));
    const measured = await interleave(
      settings.runs ?? (settings.isQuick ? QUICK_ROUNDS : FULL_ROUNDS),
      pairs.map(({ size, subject }) => ({
        name: nameOf(size, subject),
        measure: () => measure(size, subject, server.address, settings),
      })),
      settings,
    );
    const rate = (size: Size, subject: Subject): number[] => measured.values(nameOf(size, subject), RATE);
    return {
      kind: 'measured',
      series: measured.series(),
      ratios: SIZES.flatMap((size) => {
        const { single, packed, official } = SUBJECTS;
        return [
          ratioOf(`${single.name} / official clients, ${size.name}`, rate(size, single), rate(size, official), {
            atLeast: 2,
          }),
          ratioOf(`${packed.name} / official clients, ${size.name}`, rate(size, packed), rate(size, official), {
            atLeast: size.packed,
          }),
        ];
      }),
      notes: ['The loop of the official clients publishes a message for each row, in batches of up to 1,000.'],
    };
  },
};

const nameOf = (size: Size, { name }: Subject): string => `${name}, ${size.name}`;

async function measure(
  { rows: fullRows, valueBytes }: Size,
  { client, perMessage }: Subject,
  address: string,
  { isQuick }: BenchSettings,
): Promise<Readonly<Record<string, number>>> {
  const rows = fullRows * (isQuick ? QUICK_SHARE : 1);
  const argument: LayerArgument = { client, perMessage, address, rows, valueBytes, warmUpRows: rows * WARM_UP_SHARE };
  const result = await runProgram<LayerResult>(new URL('program.ts', import.meta.url), argument);
  return {
    [RATE]: result.rowsPerCpuSecond,
    'rows per second': result.rowsPerSecond,
    'peak RSS MiB': result.peakRssMiB,
  };
}
