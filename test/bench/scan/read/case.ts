import type { BenchCase, BenchSettings, CaseReport } from '../../support/case.ts';
import { startNullServer } from '../../support/null-server.ts';
import { runProgram } from '../../support/program.ts';
import { interleave } from '../../support/rounds.ts';
import { ratioOf } from '../../support/statistics.ts';
import { type LayerArgument, type LayerName, type LayerResult, LAYERS } from './layers.ts';

const FULL_ROUNDS = 7;
const QUICK_ROUNDS = 3;

/** Rows of one measurement: seconds of work. */
const SIZES = [
  { name: '1 KiB', valueBytes: 1024, rows: 400_000, target: { atLeast: 2.5 } },
  { name: '100 B', valueBytes: 100, rows: 1_200_000, target: { atLeast: 4 } },
] as const;

type Size = (typeof SIZES)[number];

const WARM_UP_SHARE = 0.25;
const QUICK_SHARE = 0.1;

const CPU = 'CPU µs per row';

/** CPU of the reading process for one row of one cell, from the wire to the row, from a server that stores nothing. */
export const readCase: BenchCase = {
  name: 'read',
  title: 'Reading: CPU per row of one cell, null server',
  async run(settings): Promise<CaseReport> {
    await using server = await startNullServer();
    const subjects = SIZES.flatMap((size) => LAYERS.map((layer) => ({ size, layer })));
    const measured = await interleave(
      settings.runs ?? (settings.isQuick ? QUICK_ROUNDS : FULL_ROUNDS),
      subjects.map(({ size, layer }) => ({
        name: nameOf(size, layer),
        measure: () => measure(size, layer, server.address, settings),
      })),
      settings,
    );
    const cpu = (size: Size, layer: LayerName): number[] => measured.values(nameOf(size, layer), CPU);
    return {
      kind: 'measured',
      series: measured.series(),
      ratios: SIZES.flatMap((size) => [
        ratioOf(`createReadStream / ours, ${size.name}`, cpu(size, 'createReadStream'), cpu(size, 'ours'), size.target),
        ratioOf(`generated client / ours, ${size.name}`, cpu(size, 'generated client'), cpu(size, 'ours'), {
          atLeast: 1.5,
        }),
      ]),
      notes: [
        'CPU is user and system time of the reading process with all its threads.',
        'The generated decoder and the generated client check nothing of what they read; ours and createReadStream do.',
      ],
    };
  },
};

const nameOf = (size: Size, layer: LayerName): string => `${layer}, ${size.name}`;

async function measure(
  { rows: fullRows, valueBytes }: Size,
  layer: LayerName,
  address: string,
  { isQuick }: BenchSettings,
): Promise<Readonly<Record<string, number>>> {
  const rows = fullRows * (isQuick ? QUICK_SHARE : 1);
  const argument: LayerArgument = { layer, address, rows, valueBytes, warmUpRows: rows * WARM_UP_SHARE };
  const result = await runProgram<LayerResult>(new URL('program.ts', import.meta.url), argument);
  return {
    [CPU]: result.cpuMicrosPerRow,
    'rows per second': result.rowsPerSecond,
    'peak RSS MiB': result.peakRssMiB,
  };
}
