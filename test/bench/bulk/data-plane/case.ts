import type { BenchCase, BenchSettings, CaseReport } from '../../support/case.ts';
import { startNullServer } from '../../support/null-server.ts';
import { runProgram } from '../../support/program.ts';
import { interleave } from '../../support/rounds.ts';
import { ratioOf } from '../../support/statistics.ts';
import { LAYERS, type LayerArgument, type LayerName, type LayerResult } from './layers.ts';

const FULL_ROUNDS = 5;
const QUICK_ROUNDS = 3;

/** Rows of one measurement: enough for seconds of work, so the slow layers write fewer. */
const ROWS: Readonly<Record<LayerName, number>> = {
  'data plane': 400_000,
  batcher: 400_000,
  'Table.mutate': 100_000,
  'table.insert': 10_000,
};
const WARM_UP_SHARE = 0.25;
const QUICK_SHARE = 0.25;

const CPU = 'CPU µs per entry';

/** CPU of the client process for one entry of 1 KiB, against a server that stores nothing. */
export const dataPlaneCase: BenchCase = {
  name: 'data-plane',
  title: 'Data plane: CPU per entry at 1 KiB, 500 entries per request, 4 requests in flight, null server',
  async run(settings): Promise<CaseReport> {
    await using server = await startNullServer();
    const measured = await interleave(
      settings.runs ?? (settings.isQuick ? QUICK_ROUNDS : FULL_ROUNDS),
      LAYERS.map((layer) => ({ name: layer, measure: () => measure(layer, server.address, settings) })),
      settings,
    );
    const cpuOf = (layer: LayerName): number[] => measured.values(layer, CPU);
    const compare = (theirs: LayerName, ours: LayerName, atLeast: number): ReturnType<typeof ratioOf> =>
      ratioOf(`${theirs} / ${ours}, CPU per entry`, cpuOf(theirs), cpuOf(ours), { atLeast });
    return {
      kind: 'measured',
      series: measured.series(),
      ratios: [
        compare('Table.mutate', 'data plane', 3.3),
        compare('table.insert', 'data plane', 60),
        compare('Table.mutate', 'batcher', 2),
        compare('table.insert', 'batcher', 30),
      ],
      notes: ['CPU is user and system time of the client process with all its threads.'],
    };
  },
};

async function measure(
  layer: LayerName,
  address: string,
  { isQuick }: BenchSettings,
): Promise<Readonly<Record<string, number>>> {
  const rows = ROWS[layer] * (isQuick ? QUICK_SHARE : 1);
  const argument: LayerArgument = { layer, address, rows, warmUpRows: rows * WARM_UP_SHARE };
  const result = await runProgram<LayerResult>(new URL('program.ts', import.meta.url), argument);
  return {
    [CPU]: result.cpuMicrosPerEntry,
    'entries per second': result.entriesPerSecond,
    'peak RSS MiB': result.peakRssMiB,
  };
}
