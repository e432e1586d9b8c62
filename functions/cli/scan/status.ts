import { isUnderWay } from '../../../shared/scan/runs/run.ts';
import { CommandError, type ExitCode } from '../errors.ts';
import type { CliContext } from '../ports.ts';
import { type Watch, watching } from '../watch.ts';
import { factsAsJson, factsReader } from './facts.ts';
import { type Seen, seenOf } from './figures.ts';
import { commandOf, type OpenedScan, readUnderWay, requireRunId, type ScanOptions, withScan } from './pipeline.ts';
import { scanReport } from './report.ts';

export interface ScanStatusOptions extends ScanOptions {
  readonly run?: string;
  readonly watch?: Watch;
  readonly json?: true;
  /** False with `--no-ranges`. */
  readonly ranges: boolean;
}

/** A run → its documents → a report, once or until the run ends. */
export function scanStatus(context: CliContext, name: string, options: ScanStatusOptions): Promise<ExitCode> {
  requireRunId(options.run);
  return withScan(context, name, options, (scan) => {
    const { terminal, clock, signal } = context;
    const read = factsReader(scan, options.ranges);
    let id = options.run;
    let before: Seen | undefined;
    return watching(context, options.watch, async () => {
      id ??= await chosenRun(scan, signal);
      if (id === undefined) {
        terminal.print(
          options.json
            ? JSON.stringify({ pipeline: name, now: clock.now() })
            : `${name} has no run yet: start one with ${commandOf('start', name)}`,
        );
        return true;
      }
      const facts = await read(id, clock.now(), before, signal);
      if (!facts) throw new CommandError(`${name} has no run ${JSON.stringify(id)}: see ${commandOf('list', name)}`);
      if (before && !options.json) terminal.print('');
      before = seenOf(facts.status, facts.now);
      terminal.print(options.json ? factsAsJson(facts) : scanReport(facts));
      return isUnderWay(facts.status.run);
    });
  });
}

/** The run that is under way, the oldest of several; else the last one. Undefined: there is none. */
async function chosenRun({ runs }: OpenedScan, signal: AbortSignal): Promise<string | undefined> {
  const [first] = await readUnderWay(runs, signal);
  return first?.id ?? (await runs.listRuns(1, signal)).at(0)?.id;
}
