import { textTable } from '../base/text-table.ts';
import type { Expectation } from './expectation.ts';
import { DATA_SET } from './flights.ts';
import type { Latency } from './latency-probe.ts';
import type { PlannedMessage } from './plan.ts';
import type { Stage } from './stage.ts';
import { countReasons, type Check, type Observed } from './verdict.ts';

/** The words of the demo: what it is about to do, and what came of it. */

const count = (value: number): string => value.toLocaleString('en');

export function introduce({ cloud, pipeline }: Stage, plan: readonly PlannedMessage[], expected: Expectation): string {
  const { deadLettered, skipped, held } = expected;
  const twice = plan.filter(({ copies }) => copies === 2).length;
  return [
    DATA_SET.title,
    `  source:  ${DATA_SET.source}`,
    `  licence: ${DATA_SET.licence}`,
    '',
    textTable(
      ['what', 'kind', 'where'],
      [
        ...cloud.services.map(({ service, kind, endpoint }) => [service, kind, endpoint]),
        [pipeline.entryPoint, 'functions-framework', `${pipeline.function.url} (process ${pipeline.function.pid})`],
      ],
    ),
    `${count(expected.records)} records in ${count(expected.messages)} messages, ${count(twice)} of them published twice.`,
    `Among them: ${count(skipped)} that the pipeline skips, ${held} whose column family is not there yet, and broken ones:`,
    ...Object.entries(deadLettered).map(([fate, broken]) => `  ${fate}: ${count(broken)}`),
    '',
  ].join('\n');
}

export interface RunReport {
  readonly stage: Stage;
  readonly checks: readonly Check[];
  readonly observed: Observed;
  readonly burstMillis: number;
  readonly burstRecords: number;
  readonly latency: Latency;
}

export function describeRun({ checks, observed, burstMillis, burstRecords, latency }: RunReport): string {
  const rate = Math.round(burstRecords / (burstMillis / 1000));
  const millis = (value: number): string => `${value.toFixed(0)} ms`;
  const list = (counts: ReadonlyMap<string, number>): string =>
    [...counts].map(([name, value]) => `${name} ${count(value)}`).join(', ') || 'none';
  return [
    '',
    describeChecks(checks),
    `deliveries:          ${count(observed.delivered)} pushes; asked for again by the function: ${list(observed.redelivered)}`,
    `MutateRows requests: ${count(observed.requests)}, of them only to find the entry to blame: ${count(observed.requestsForIsolation)}`,
    `dead letters by the reason they carry: ${list(countReasons(observed.deadLetters))}`,
    `burst:               ${count(burstRecords)} records in ${(burstMillis / 1000).toFixed(1)} s = ${count(rate)} records/s, from the first publish to the last acknowledgement`,
    `publish → readable:  p50 ${millis(latency.p50Millis)}, p95 ${millis(latency.p95Millis)} (${latency.samples} rows sampled with the official client, one record a message, 200 messages/s)`,
    '',
    conclude(checks),
    '',
  ].join('\n');
}

export const describeChecks = (checks: readonly Check[]): string =>
  textTable(
    ['what', 'got', 'must be', ''],
    checks.map(({ what, got, mustBe, isRight }) => [what, count(got), count(mustBe), isRight ? 'ok' : 'WRONG']),
  );

/** The last line of a run. */
export function conclude(checks: readonly Check[]): string {
  const wrong = checks.filter(({ isRight }) => !isRight);
  if (wrong.length === 0) return 'Every count is as it must be.';
  return `WRONG: ${wrong.map(({ what, got, mustBe }) => `${what}: ${got} instead of ${mustBe}`).join('; ')}`;
}
