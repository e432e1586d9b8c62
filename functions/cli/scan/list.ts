import { textTable } from '../../../shared/base/text-table.ts';
import type { Run } from '../../../shared/scan/runs/run.ts';
import { ago, duration, formatTime, grouped, size } from '../amounts.ts';
import { EXIT, type ExitCode } from '../errors.ts';
import type { CliContext } from '../ports.ts';
import { commandOf, type ScanOptions, withScan } from './pipeline.ts';
import { withoutKeys } from './problem.ts';

export interface ListOptions extends ScanOptions {
  readonly limit: number;
  readonly json?: true;
  readonly ranges: boolean;
}

/** Runs that are listed unless more are asked for. */
export const LISTED = 20;

/** The runs of a pipeline, the latest started first. */
export function listScans(context: CliContext, name: string, options: ListOptions): Promise<ExitCode> {
  return withScan(context, name, options, async ({ runs }) => {
    const found = await runs.listRuns(options.limit, context.signal);
    const shown = options.ranges ? found : found.map(runWithoutKeys);
    if (options.json) {
      context.terminal.print(JSON.stringify(shown.map(listed), undefined, 2));
    } else if (shown.length === 0) {
      context.terminal.print(`${name} has no run yet: start one with ${commandOf('start', name)}`);
    } else {
      context.terminal.print(runTable(shown, context.clock.now()));
    }
    return EXIT.ok;
  });
}

const runWithoutKeys = (run: Run): Run =>
  run.problem === undefined ? run : { ...run, problem: withoutKeys(run.problem) };

/** Of a run, without how its documents are written and cleared away. */
const listed = ({ id, state, startedAt, plan, readingSince, endedAt, totals, problem, isTold }: Run): object => ({
  ...{ id, state, startedAt, plan, readingSince, endedAt, totals, problem, isTold },
});

const runTable = (runs: readonly Run[], now: number): string =>
  textTable([
    ['RUN', 'STATE', 'STARTED', 'TOOK', 'SPLITS', 'ROWS', 'BYTES', 'PROBLEM'],
    ...runs.map(({ id, state, startedAt, endedAt, plan, totals, problem }) => [
      id,
      state,
      `${formatTime(startedAt)} (${ago(startedAt, now)})`,
      `${duration((endedAt ?? now) - startedAt)}${endedAt === undefined ? '…' : ''}`,
      plan ? grouped(plan.splits) : '',
      totals ? grouped(totals.rows) : '',
      totals ? size(totals.bytes) : '',
      problem ?? '',
    ]),
  ]);
