import { startRun } from '../../../shared/scan/runs/start-run.ts';
import { isUnderWay, type Run } from '../../../shared/scan/runs/run.ts';
import { freezeRun } from '../../parts/scan/freeze-run.ts';
import { formatTime } from '../amounts.ts';
import { CommandError, EXIT, type ExitCode } from '../errors.ts';
import type { CliContext } from '../ports.ts';
import { commandOf, type OpenedScan, requireRunId, type ScanOptions, withScan } from './pipeline.ts';
import { followRun } from './follow.ts';

export interface StartOptions extends ScanOptions {
  readonly run?: string;
  readonly wait?: true;
}

/** Configuration → what the run goes by, frozen → one commit → the id of the run. */
export function startScan(context: CliContext, name: string, options: StartOptions): Promise<ExitCode> {
  requireRunId(options.run);
  return withScan(context, name, options, async (scan) => {
    const run = await started(context, scan, options.run ?? new Date(context.clock.now()).toISOString());
    if (!options.wait) return isUnderWay(run) || run.state === 'done' ? EXIT.ok : EXIT.failed;
    return followRun(context, scan, run.id);
  });
}

/** @throws {CommandError} where another run is under way. */
async function started({ clock, signal, terminal }: CliContext, scan: OpenedScan, id: string): Promise<Run> {
  const { name, pipeline, runs } = scan;
  const request = {
    id,
    options: (lastDone: Parameters<typeof freezeRun>[1]) => freezeRun(pipeline, lastDone),
    concurrentRuns: pipeline.runs.concurrentRuns,
  };
  const outcome = await startRun(request, { store: runs, clock }, signal);
  if (outcome.kind === 'refused') {
    const { id: other, startedAt } = outcome.by;
    throw new CommandError(
      `run ${other} of ${name}, started at ${formatTime(startedAt)}, is under way: wait for it, end it with "${commandOf('cancel', name, other)}", or set concurrentRuns to allow`,
    );
  }
  const { run } = outcome;
  terminal.print(run.id);
  terminal.note(
    outcome.kind === 'started'
      ? `run ${run.id} of ${name} is started; see ${commandOf('status', name, run.id)} --watch`
      : `run ${run.id} of ${name} was started at ${formatTime(run.startedAt)} and is ${run.state}${isUnderWay(run) || run.state === 'done' ? '' : ': start another one under another id'}`,
  );
  return run;
}
