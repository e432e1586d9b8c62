import type { BenchCase, BenchSettings, CaseReport } from '../../support/case.ts';
import { startNullServer } from '../../support/null-server.ts';
import { runProgram } from '../../support/program.ts';
import { interleave, type Sample } from '../../support/rounds.ts';
import { ratioOf } from '../../support/statistics.ts';
import { CLIENTS, type ClientArgument, type ClientName, type ClientResult } from './clients.ts';

const ROUNDS = 5;
const QUICK_ROUNDS = 3;

/** Whole segments of the drain. */
const WRITES = 64_000;
const QUICK_WRITES = 12_800;
const WARM_UP_SHARE = 0.25;

const CPU = 'CPU µs per write';

/** CPU of the client process for one conditional write on a row of its own, against a server that stores nothing. */
export const distinctRowsCase: BenchCase = {
  name: 'distinct-rows',
  title: 'Drain of distinct rows: CPU per conditional write at 100 bytes, 100 in flight, null server',
  async run(settings): Promise<CaseReport> {
    await using server = await startNullServer();
    const measured = await interleave(
      settings.runs ?? (settings.isQuick ? QUICK_ROUNDS : ROUNDS),
      CLIENTS.map((client) => ({ name: client, measure: () => measure(client, server.address, settings) })),
      settings,
    );
    return {
      kind: 'measured',
      series: measured.series(),
      ratios: [
        ratioOf(
          'drain / checkAndMutateRow of the generated client, CPU per write',
          measured.values('drain', CPU),
          measured.values('checkAndMutateRow', CPU),
          { atMost: 0.7 },
        ),
      ],
      notes: ['CPU is user and system time of the client process with all its threads.'],
    };
  },
};

async function measure(client: ClientName, address: string, { isQuick }: BenchSettings): Promise<Sample> {
  const writes = isQuick ? QUICK_WRITES : WRITES;
  const argument: ClientArgument = { client, address, writes, warmUpWrites: writes * WARM_UP_SHARE };
  const result = await runProgram<ClientResult>(new URL('program.ts', import.meta.url), argument);
  return {
    [CPU]: result.cpuMicrosPerWrite,
    'writes per second': result.writesPerSecond,
    'peak RSS MiB': result.peakRssMiB,
  };
}
