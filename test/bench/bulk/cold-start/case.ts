import { fileURLToPath } from 'node:url';
import { bundleSink } from '../../support/bundled-sink.ts';
import type { BenchCase, CaseReport } from '../../support/case.ts';
import { millisToFirstAnswer } from '../../support/first-answer.ts';
import { startNullServer } from '../../support/null-server.ts';
import { interleave } from '../../support/rounds.ts';
import { ratioOf, spreadOf } from '../../support/statistics.ts';
import { preparedPushes } from '../pushes.ts';
import { SINK_CONFIG } from '../sink-config.ts';

const FULL_ROUNDS = 9;
const QUICK_ROUNDS = 5;
const MILLIS = 'ms to first 204';

/** Process start to the first acknowledged push, its row written, beside a function that does nothing. */
export const coldStartCase: BenchCase = {
  name: 'cold-start',
  title: 'Cold start: process start to the first 204, for bulkSink with a row written, null server',
  async run(settings): Promise<CaseReport> {
    await using sink = await bundleSink(SINK_CONFIG);
    await using server = await startNullServer();
    const [request = Buffer.alloc(0)] = preparedPushes(1, { recordsPerMessage: 1, valueBytes: 100 });
    const noop = fileURLToPath(new URL('../functions/noop', import.meta.url));
    const sinkEnv = { BIGTABLE_EMULATOR_HOST: server.address, CONNECTOR_PIPELINE: 'single' };
    const parsing = { ...sinkEnv, CONNECTOR_CONFIG_FILE: sink.configFile };
    const start = async (target: string, source: string, env: Readonly<Record<string, string>>) => ({
      [MILLIS]: await millisToFirstAnswer({ target, source, env, request }),
    });
    const measured = await interleave(
      settings.runs ?? (settings.isQuick ? QUICK_ROUNDS : FULL_ROUNDS),
      [
        { name: 'no-op', measure: () => start('noop', noop, {}) },
        { name: 'bulkSink, bundled', measure: () => start('bulkSink', sink.source, sinkEnv) },
        { name: 'bulkSink, bundled, parses its YAML', measure: () => start('bulkSink', sink.source, parsing) },
      ],
      settings,
    );
    const millisOf = (name: string): number[] => measured.values(name, MILLIS);
    const parserMillis =
      spreadOf(millisOf('bulkSink, bundled, parses its YAML')).median - spreadOf(millisOf('bulkSink, bundled')).median;
    return {
      kind: 'measured',
      series: measured.series(),
      ratios: [ratioOf('bulkSink, bundled / no-op', millisOf('bulkSink, bundled'), millisOf('no-op'), { atMost: 1.5 })],
      notes: [
        `zod and yaml cost a start that has to parse its configuration ${parserMillis.toFixed(0)} ms (difference of the medians).`,
      ],
    };
  },
};
