import { formatTime } from '../amounts.ts';
import { cancelRun } from '../../../shared/scan/runs/start-run.ts';
import { CommandError, EXIT, type ExitCode } from '../errors.ts';
import type { CliContext } from '../ports.ts';
import { commandOf, type OpenedScan, readUnderWay, requireRunId, type ScanOptions, withScan } from './pipeline.ts';

export interface CancelOptions extends ScanOptions {
  readonly run?: string;
}

/** Cancels the run that is named, or the one that is under way. */
export function cancelScan(context: CliContext, name: string, options: CancelOptions): Promise<ExitCode> {
  requireRunId(options.run);
  return withScan(context, name, options, async (scan) => {
    const id = options.run ?? (await onlyRun(scan, context.signal));
    const outcome = await cancelRun(id, { store: scan.runs, clock: context.clock }, context.signal);
    switch (outcome.kind) {
      case 'cancelled':
        context.terminal.print(
          `run ${id} of ${name} is cancelled; slots that read it stop at their next look, a few seconds from now`,
        );
        return EXIT.ok;
      case 'ended': {
        const { state, endedAt } = outcome.run;
        throw new CommandError(
          `run ${id} of ${name} is ${state}${endedAt === undefined ? '' : ` since ${formatTime(endedAt)}`}: nothing is left to cancel`,
        );
      }
      case 'unknown':
        throw new CommandError(`${name} has no run ${JSON.stringify(id)}: see ${commandOf('list', name)}`);
      default:
        return outcome satisfies never;
    }
  });
}

async function onlyRun({ name, runs }: OpenedScan, signal: AbortSignal): Promise<string> {
  const [first, ...others] = await readUnderWay(runs, signal);
  if (!first) throw new CommandError(`no run of ${name} is under way: see ${commandOf('list', name)}`);
  if (others.length === 0) return first.id;
  const ids = [first, ...others].map(({ id }) => id).join(', ');
  throw new CommandError(`several runs of ${name} are under way: name one with --run (${ids})`);
}
