import { pauseOrResume, type PausingOutcome, type Wish } from '../../../shared/change-stream/pausing.ts';
import type { Source } from '../../../shared/change-stream/source.ts';
import { CommandError, EXIT, type ExitCode } from '../errors.ts';
import type { CliContext } from '../ports.ts';
import { type ChangeStreamOptions, commandOf, notStarted, withChangeStream } from './pipeline.ts';

/** Pauses a source or lets it go on, and says what happens next. */
export function pauseSource(
  context: CliContext,
  wish: Wish,
  name: string,
  options: ChangeStreamOptions,
): Promise<ExitCode> {
  return withChangeStream(context, name, options, async (store) => {
    context.terminal.print(saidOf(wish, name, await pauseOrResume(wish, store, context.signal)));
    return EXIT.ok;
  });
}

/** @throws {CommandError} where the source is not as it was wished. */
function saidOf(wish: Wish, name: string, outcome: PausingOutcome): string {
  switch (outcome.kind) {
    case 'changed':
      return wish === 'pause' ? pausedText(name) : resumedText(name, outcome.source);
    case 'unchanged':
      return wish === 'pause'
        ? `${name} is paused already; let it go on with "${commandOf('resume', name)}"`
        : `${name} is ${outcome.source.status} and not paused: nothing is to be resumed`;
    case 'refused':
      throw new CommandError(refusedText(wish, name, outcome.source));
    case 'unknown':
      throw new CommandError(`${notStarted(name)} Nothing is to be ${wish === 'pause' ? 'paused' : 'resumed'}`);
    case 'busy':
      throw new CommandError(`others wrote the state of ${name} before every try: try again`);
    default:
      return outcome satisfies never;
  }
}

const pausedText = (name: string): string =>
  `${name} is paused: slots see it at their next look, within about 5 s, commit what was published, give their partitions back and end. ` +
  `Positions stay, and the retention goes on: resume it with "${commandOf('resume', name)}" before "${commandOf('status', name)}" shows no headroom`;

const resumedText = (name: string, { status }: Source): string =>
  status === 'starting'
    ? `${name} is starting: coordinate makes its partitions at its next look, within about 10 s while it runs, and slots take them at their next start, within a minute of that`
    : `${name} is reading: its slots ended with the pause, and start again within a minute, by Cloud Scheduler`;

function refusedText(wish: Wish, name: string, { status, problem }: Source): string {
  const why = problem === undefined ? '' : `: ${problem}`;
  if (status === 'done') return `${name} is done${why}: nothing is left to ${wish}`;
  return `${name} is stopped${why}. Nothing of it is read; coordinate tries it again every minute, and once the cause is gone it reads by itself`;
}
