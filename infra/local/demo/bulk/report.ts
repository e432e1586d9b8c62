import type { Expectation } from './truth.ts';
import { DATA_SET } from '../base/flights.ts';
import { count, describeChecks, introduction } from '../base/report.ts';
import { type Check, conclude } from '../base/verdict.ts';
import type { Latency } from './latency-probe.ts';
import type { PlannedMessage } from './plan.ts';
import type { Stage } from './stage.ts';
import { countReasons, type Observed } from './verdict.ts';

/** The words of the demo: what it is about to do, and what came of it. */

export function introduce({ cloud, connector }: Stage, plan: readonly PlannedMessage[], expected: Expectation): string {
  const { deadLettered, skipped, held } = expected;
  const twice = plan.filter(({ copies }) => copies === 2).length;
  return introduction(DATA_SET.title, cloud, connector.functions, [
    `${count(expected.records)} records in ${count(expected.messages)} messages, ${count(twice)} of them published twice.`,
    `Among them: ${count(skipped)} that the pipeline skips, ${held} whose column family is not there yet, and broken ones:`,
    ...Object.entries(deadLettered).map(([fate, broken]) => `  ${fate}: ${count(broken)}`),
  ]);
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
