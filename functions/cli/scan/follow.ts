import { isUnderWay } from '../../../shared/scan/runs/run.ts';
import { CommandError, EXIT, type ExitCode } from '../errors.ts';
import { interruptedExit } from '../interruption.ts';
import type { CliContext } from '../ports.ts';
import { watching } from '../watch.ts';
import { type Seen, seenOf } from './figures.ts';
import type { OpenedScan } from './pipeline.ts';
import { factsReader, type ScanFacts } from './facts.ts';
import { progressLine, scanReport } from './report.ts';

/** Follows a run to its end with a line of progress, and reports it then. Ctrl-C ends the following; the run goes on. */
export async function followRun(context: CliContext, scan: OpenedScan, id: string): Promise<ExitCode> {
  const { terminal, clock, signal } = context;
  const read = factsReader(scan, true);
  let last: ScanFacts | undefined;
  let before: Seen | undefined;
  const look = async (): Promise<boolean> => {
    const facts = await read(id, clock.now(), before, signal);
    if (!facts) throw new CommandError(`run ${id} of ${scan.name} is gone`);
    last = facts;
    before = seenOf(facts.status, facts.now);
    terminal.status(() => progressLine(facts));
    return isUnderWay(facts.status.run);
  };
  const code = await watching(context, true, look).catch((error: unknown) => {
    if (signal.aborted) return interruptedExit(signal);
    throw error;
  });
  terminal.status('');
  if (code !== EXIT.ok || !last) {
    terminal.note(`run ${id} of ${scan.name} goes on`);
    return code;
  }
  terminal.print(scanReport(last));
  return last.status.run.state === 'done' ? EXIT.ok : EXIT.failed;
}
