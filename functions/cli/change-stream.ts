import type { Command } from 'commander';
import { pauseSource } from './change-stream/pausing.ts';
import type { ChangeStreamOptions } from './change-stream/pipeline.ts';
import { sourceStatus, type SourceStatusOptions } from './change-stream/status.ts';
import type { ExitCode } from './errors.ts';
import { positiveNumber } from './option-values.ts';
import type { CliContext } from './ports.ts';
import { WATCH_SECONDS } from './watch.ts';

/** The verbs of people for sources of changes. Each goes through Firestore, because `readChangeStream` takes internal traffic only. */

const CONFIG = [
  '-c, --config <file>',
  'configuration (default: what CONNECTOR_CONFIG or CONNECTOR_CONFIG_FILE says, else connector.yaml)',
] as const;

const PIPELINE = ['<pipeline>', 'name of a pipeline of kind change-stream-source'] as const;

export function addChangeStream(program: Command, context: CliContext, done: (code: ExitCode) => void): void {
  const changeStream = program
    .command('change-stream')
    .summary('watch, pause and resume a source of changes')
    .description(
      'The source of a pipeline of kind change-stream-source: it reads every change of a table. The commands go through Firestore, ' +
        'slots of readChangeStream do the work, and coordinate starts and repairs it.',
    )
    .addHelpText(
      'after',
      `
Examples:
  $ npm run connector -- change-stream status changes --watch
  $ npm run connector -- change-stream pause changes
  $ npm run connector -- change-stream resume changes

pause and resume need roles/datastore.user, status roles/datastore.viewer. What a source promises: shared/docs/change-stream-source.md`,
    );
  addStatus(changeStream, context, done);
  addPause(changeStream, context, done);
  addResume(changeStream, context, done);
}

function addStatus(changeStream: Command, context: CliContext, done: (code: ExitCode) => void): void {
  changeStream
    .command('status')
    .summary('show how far a source is, who reads it, and what is wrong')
    .description(
      'Shows a source: its state and low watermark, its partitions with their lag and the headroom to the retention, the 20 that lag ' +
        'most first, merges that wait for tokens, parts that nobody reads with their timers, and the slots with their owners and leases.',
    )
    .argument(...PIPELINE)
    .option(...CONFIG)
    .option(
      '-w, --watch [seconds]',
      `again and again until Ctrl-C, or the end of a bounded source (default: every ${WATCH_SECONDS} s)`,
      positiveNumber,
    )
    .option(
      '--json',
      'print one JSON object for each report, with all partitions; now is milliseconds since the epoch, positions are RFC 3339',
    )
    .option('--no-ranges', 'show no row key at all: neither ranges nor what a problem may name')
    .addHelpText(
      'after',
      `
Examples:
  $ npm run connector -- change-stream status changes
  $ npm run connector -- change-stream status changes --watch 2 --no-ranges
  $ npm run --silent connector -- change-stream status changes --json

The exit code is 0 where a report was shown, whatever it says. Lag is told by committed positions, which are a few seconds old where
changes come, and up to a minute in quiet times.`,
    )
    .action(async (name: string, options: SourceStatusOptions) => {
      done(await sourceStatus(context, name, options));
    });
}

function addPause(changeStream: Command, context: CliContext, done: (code: ExitCode) => void): void {
  changeStream
    .command('pause')
    .summary('pause a source')
    .description(
      'Pauses a source: slots see it at their next look, within about 5 s, commit what was published, give their partitions back and end. ' +
        'Positions stay. The service forgets changes after its retention all the same.',
    )
    .argument(...PIPELINE)
    .option(...CONFIG)
    .addHelpText(
      'after',
      `
Examples:
  $ npm run connector -- change-stream pause changes

The exit code is 0 where the source is paused, also where it was before; 1 where it is not there, done or stopped.`,
    )
    .action(async (name: string, options: ChangeStreamOptions) => {
      done(await pauseSource(context, 'pause', name, options));
    });
}

function addResume(changeStream: Command, context: CliContext, done: (code: ExitCode) => void): void {
  changeStream
    .command('resume')
    .summary('let a paused source go on')
    .description(
      'Lets a paused source go on from its positions: its slots start again within a minute, by Cloud Scheduler. ' +
        'A source that was paused before it had its partitions is started.',
    )
    .argument(...PIPELINE)
    .option(...CONFIG)
    .addHelpText(
      'after',
      `
Examples:
  $ npm run connector -- change-stream resume changes

The exit code is 0 where the source goes on, also where it was not paused; 1 where it is not there, done or stopped.`,
    )
    .action(async (name: string, options: ChangeStreamOptions) => {
      done(await pauseSource(context, 'resume', name, options));
    });
}
