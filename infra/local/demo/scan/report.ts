import type { LocalCloud } from '../../cloud/cloud.ts';
import type { LocalConnector } from '../../run/connector.ts';
import type { FunctionMetrics } from '../base/function-metrics.ts';
import { DATA_SET } from '../base/flights.ts';
import { count, describeChecks, introduction } from '../base/report.ts';
import type { RunOptions } from '../base/run.ts';
import { type Check, conclude } from '../base/verdict.ts';
import type { Consumer } from './consumer.ts';
import type { Copied } from './copy.ts';
import type { Killed, Stopped } from './disturb.ts';
import type { TablePlan } from './rows.ts';
import type { RunState } from './scan-state.ts';
import type { Trouble } from './trouble.ts';
import type { ScanObserved } from './verdict.ts';

/** The words of the run: what it is about to do, and what came of it. */

export interface ScanIntroduction {
  readonly servers: { readonly cloud: LocalCloud };
  readonly connector: LocalConnector;
  readonly plan: TablePlan;
}

export function introduceScan({ servers: { cloud }, connector, plan }: ScanIntroduction): string {
  const { rows, largeKey, refusedKey } = plan;
  const { slots } = connector.functionOf('readScan');
  return introduction(DATA_SET.title, cloud, connector.functions, [
    `The table has ${count(rows)} rows in 64 tablets; after the last flight the set begins again. ${slots.length} slots read it, in the processes ${slots.map(({ pid }) => pid).join(', ')}.`,
    `The service will not read the row ${largeKey} for its size, and the module throws at the row ${refusedKey}: each has a letter, and nothing else may be missing.`,
    'Tablets move, the topic refuses for some seconds, a slot is killed and another one is stopped.',
  ]);
}

export interface ScanReport {
  readonly checks: readonly Check[];
  readonly observed: ScanObserved;
  readonly killed: Killed;
  readonly stopped: Stopped;
  readonly ended: Pick<RunState, 'startedAt'> & { readonly endedAt: number };
  readonly copied: Copied;
  readonly consumer: Pick<Consumer, 'messages'>;
  readonly trouble: Trouble;
  readonly metrics: FunctionMetrics;
  readonly options: Pick<RunOptions, 'functionTimeScale'>;
}

export function describeScan(report: ScanReport): string {
  const { checks, observed, killed, stopped, ended, copied, consumer, trouble, metrics, options } = report;
  const scale = options.functionTimeScale ?? 1;
  const seconds = (millis: number): string => `${(millis / 1000).toFixed(1)} s`;
  const rate = (rows: number, millis: number): string => count(Math.round((rows * 1000) / millis));
  const faster = scale === 1 ? '' : ` (by clocks that run ${scale} times faster)`;
  return [
    '',
    describeChecks(checks),
    'What went wrong, on purpose:',
    ...trouble.counts().map(([what, times]) => `  ${count(times)} ${what}`),
    `  slot ${killed.slot} was killed with ${killed.held.length} splits in hand; ${seconds((killed.takenAfterMillis ?? 0) * scale)} later it was taken over${faster}`,
    `  slot ${stopped.slot} was stopped, and gave everything back within ${seconds(stopped.millis)}`,
    'What came of it:',
    `  ${count(consumer.messages)} messages; ${count(observed.repeated.ofTheCrash)} rows came twice, of ${count(observed.uncommitted)} that the killed slot had published and not committed`,
    `  the run took ${seconds(ended.endedAt - ended.startedAt)}${faster}, its pace set so that there is time for trouble`,
    `  the copy took ${seconds(copied.millis)} as fast as it went, from its first row to its last acknowledgement: ${rate(copied.observed.rows, copied.millis)} rows/s read, published, pushed and written`,
    'What the functions counted (a process that is killed takes its last second with it):',
    `  ${count(metrics.total('rowsRead'))} rows read, ${count(metrics.total('splitsTaken'))} splits taken, ${count(metrics.total('positionsCommitted'))} positions committed, ${count(metrics.total('publishRetries'))} publishes tried again`,
    '',
    conclude(checks),
    '',
  ].join('\n');
}
