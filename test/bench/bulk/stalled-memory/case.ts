import { setTimeout as wait } from 'node:timers/promises';
import { startFunctionProcess, type FunctionProcess } from '../../../../infra/local/run/function-process.ts';
import { bundleSink } from '../../support/bundled-sink.ts';
import type { BenchCase, CaseReport } from '../../support/case.ts';
import { chart, type Point } from '../../support/chart.ts';
import type { LoadResult } from '../../support/http-load.ts';
import { startNullServer, type NullServer } from '../../support/null-server.ts';
import { rssMiBOf, usageProblem } from '../../support/process-usage.ts';
import { runProgram } from '../../support/program.ts';
import { interleave } from '../../support/rounds.ts';
import { ratioOf, type Ratio } from '../../support/statistics.ts';
import type { LoadArgument } from '../http/load-program.ts';
import type { PushShape } from '../pushes.ts';
import { SINK_CONFIG, STALL_IN_FLIGHT_BYTES } from '../sink-config.ts';

const FULL_STALL_MILLIS = 30_000;
const QUICK_STALL_MILLIS = 6_000;
const FULL_ROUNDS = 3;
const SAMPLE_MILLIS = 100;

/**
 * What the process may take beside the entries in flight: four requests of at most 4 MiB, each once as encoded and once
 * as gRPC copied it, the pushes that wait, and the room that the collector leaves itself.
 */
const CONSTANT_MIB = 128;
const ALLOWED_MIB = STALL_IN_FLIGHT_BYTES / 1024 / 1024 + CONSTANT_MIB;

/** 512 pushes of 100 records, each of which becomes an entry of 4 KiB: three times the bytes that may be in flight. */
const CONCURRENCY = 512;
const SHAPE: PushShape = { recordsPerMessage: 100, expandedBytes: 4096 };

const GROWTH = 'peak RSS while it stalls − baseline, MiB';
const AFTERWARDS = 'peak RSS while it catches up − baseline, MiB';

/** Resident memory of the function while Bigtable takes requests and answers none. */
export const stalledMemoryCase: BenchCase = {
  name: 'memory',
  title: `Memory: Bigtable stalls under full load, maxInFlightBytes ${STALL_IN_FLIGHT_BYTES / 1024 / 1024} MiB, three times as much offered`,
  async run(settings): Promise<CaseReport> {
    const reason = usageProblem();
    if (reason !== undefined) return { kind: 'skipped', reason };
    await using sink = await bundleSink(SINK_CONFIG);
    const stallMillis = settings.isQuick ? QUICK_STALL_MILLIS : FULL_STALL_MILLIS;
    let curve: readonly Point[] = [];
    const measured = await interleave(
      settings.runs ?? (settings.isQuick ? 1 : FULL_ROUNDS),
      [
        {
          name: `stall of ${stallMillis / 1000} s`,
          measure: async () => {
            const { baseline, points } = await stallOnce(sink.source, stallMillis);
            curve = points;
            const isStalled = ({ second }: Point): boolean => second * 1000 < stallMillis;
            return {
              'baseline RSS, MiB': baseline,
              [GROWTH]: peakOf(points.filter(isStalled)) - baseline,
              [AFTERWARDS]: peakOf(points.filter((point) => !isStalled(point))) - baseline,
            };
          },
        },
      ],
      settings,
    );
    const growth = measured.values(`stall of ${stallMillis / 1000} s`, GROWTH);
    return {
      kind: 'measured',
      series: measured.series(),
      ratios: [growthRatio(growth)],
      notes: [
        `Allowed: the bytes in flight and ${CONSTANT_MIB} MiB. Resident memory of the last round:`,
        chart(curve, 'MiB'),
      ],
    };
  },
};

const peakOf = (points: readonly Point[]): number => Math.max(...points.map(({ value }) => value));

/** The growth as a share of what is allowed. */
function growthRatio(growth: readonly number[]): Ratio {
  const allowed = growth.map(() => ALLOWED_MIB);
  return ratioOf(`growth / allowed ${ALLOWED_MIB} MiB`, growth, allowed, { atMost: 1 });
}

async function stallOnce(
  source: string,
  stallMillis: number,
): Promise<{ readonly baseline: number; readonly points: readonly Point[] }> {
  await using server = await startNullServer(stallMillis);
  const env = { NODE_ENV: 'production', BIGTABLE_EMULATOR_HOST: server.address, CONNECTOR_PIPELINE: 'stalled' };
  const instance = await startFunctionProcess('bulkSink', { source, env });
  try {
    // Everything is loaded and has run, with little in flight.
    await push(instance, 4, 40);
    const baseline = await rssMiBOf(instance.pid);
    return { baseline, points: await watchStall(instance, server) };
  } finally {
    await instance.kill();
  }
}

/** Loads the function beyond its bounds while the server stalls; ends when every push is acknowledged after it. */
async function watchStall(instance: FunctionProcess, server: NullServer): Promise<readonly Point[]> {
  const points: Point[] = [];
  server.stall();
  const startedAt = performance.now();
  const finished = new AbortController();
  const load = push(instance, CONCURRENCY, 2 * CONCURRENCY).finally(() => {
    finished.abort();
  });
  while (!finished.signal.aborted) {
    points.push({ second: (performance.now() - startedAt) / 1000, value: await rssMiBOf(instance.pid) });
    await wait(SAMPLE_MILLIS);
  }
  await load;
  return points;
}

const push = (instance: FunctionProcess, concurrency: number, requests: number): Promise<LoadResult> =>
  runProgram<LoadResult>(new URL('../http/load-program.ts', import.meta.url), {
    port: instance.port,
    concurrency,
    requests,
    shape: SHAPE,
  } satisfies LoadArgument);
