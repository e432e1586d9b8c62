import { readSourceOverview } from '../../../shared/change-stream/source-status.ts';
import type { ExitCode } from '../errors.ts';
import type { CliContext } from '../ports.ts';
import { type Watch, watching } from '../watch.ts';
import { overviewAsJson } from './json.ts';
import { type ChangeStreamOptions, notStarted, withChangeStream } from './pipeline.ts';
import { sourceReport } from './report.ts';

export interface SourceStatusOptions extends ChangeStreamOptions {
  readonly watch?: Watch;
  readonly json?: true;
  /** False with `--no-ranges`. */
  readonly ranges: boolean;
}

/** A source → its documents → a report, once or until the source is done. */
export function sourceStatus(context: CliContext, name: string, options: SourceStatusOptions): Promise<ExitCode> {
  const { terminal, clock, signal } = context;
  return withChangeStream(context, name, options, (store) => {
    let isFirst = true;
    return watching(context, options.watch, async () => {
      const overview = await readSourceOverview(store, clock, signal);
      if (!isFirst && !options.json) terminal.print('');
      isFirst = false;
      if (overview) {
        const show = options.json ? overviewAsJson : sourceReport;
        terminal.print(show(name, overview, options.ranges));
      } else terminal.print(options.json ? JSON.stringify({ pipeline: name, now: clock.now() }) : notStarted(name));
      return overview?.source.status !== 'done';
    });
  });
}
