import type { Command } from 'commander';
import type { ExitCode } from './errors.ts';
import { positiveNumber, positiveWhole } from './option-values.ts';
import type { CliContext } from './ports.ts';
import { cancelScan, type CancelOptions } from './scan/cancel.ts';
import { LISTED, type ListOptions, listScans } from './scan/list.ts';
import { type StartOptions, startScan } from './scan/start.ts';
import { scanStatus, type ScanStatusOptions } from './scan/status.ts';
import { WATCH_SECONDS } from './watch.ts';

/** The verbs of people for scans. Each goes through Firestore, because `readScan` takes internal traffic only. */

const CONFIG = [
  '-c, --config <file>',
  'configuration (default: what CONNECTOR_CONFIG or CONNECTOR_CONFIG_FILE says, else connector.yaml)',
] as const;

const PIPELINE = ['<pipeline>', 'name of a pipeline of kind scan-source'] as const;

export function addScan(program: Command, context: CliContext, done: (code: ExitCode) => void): void {
  const scan = program
    .command('scan')
    .summary('start, watch, cancel and list the runs of a scan')
    .description(
      'Runs of a pipeline of kind scan-source: each reads a table, or ranges of it, once. The commands go through Firestore, ' +
        'and slots of readScan do the work.',
    )
    .addHelpText(
      'after',
      `
Examples:
  $ npm run connector -- scan start exports --wait
  $ npm run connector -- scan status exports --watch
  $ npm run connector -- scan list exports

start and cancel need roles/datastore.user, status and list roles/datastore.viewer. What a scan promises: shared/docs/scan-source.md`,
    );
  addStart(scan, context, done);
  addScanStatus(scan, context, done);
  addCancel(scan, context, done);
  addList(scan, context, done);
}

function addStart(scan: Command, context: CliContext, done: (code: ExitCode) => void): void {
  scan
    .command('start')
    .summary('start a run')
    .description(
      'Starts a run with the configuration as it is now: a later deployment changes nothing of it. Prints the id of the run. ' +
        'The same id twice is one run. Refused while another run is under way, unless concurrentRuns is allow.',
    )
    .argument(...PIPELINE)
    .option(...CONFIG)
    .option('-r, --run <id>', 'id of the run (default: the time, such as 2026-01-31T03:00:00.000Z)')
    .option('-w, --wait', 'follow the run to its end; Ctrl-C ends the waiting, and the run goes on')
    .addHelpText(
      'after',
      `
Examples:
  $ npm run connector -- scan start exports
  $ npm run connector -- scan start exports --run 2026-01-31 --wait
  $ RUN=$(npm run --silent connector -- scan start exports)

The exit code is 0 where the run is started, or was before and neither failed nor was cancelled; with --wait, where it is done.
It is 1 where another run is under way, and where the run failed or was cancelled.`,
    )
    .action(async (name: string, options: StartOptions) => {
      done(await startScan(context, name, options));
    });
}

function addScanStatus(scan: Command, context: CliContext, done: (code: ExitCode) => void): void {
  scan
    .command('status')
    .summary('show how far a run is, who reads it, and what is wrong')
    .description(
      'Shows a run: its splits, what was read so far, the rate and about how long it takes still, the slots with their owners and ' +
        'leases, and the last problem of a split with the command that fixes it. Without --run the run that is under way, else the last one.',
    )
    .argument(...PIPELINE)
    .option(...CONFIG)
    .option('-r, --run <id>', 'id of the run')
    .option(
      '-w, --watch [seconds]',
      `again and again until the run or Ctrl-C ends it (default: every ${WATCH_SECONDS} s)`,
      positiveNumber,
    )
    .option('--json', 'print one JSON object for each report; times are milliseconds since the epoch')
    .option('--no-ranges', 'show no row key at all: neither ranges nor keys that a problem names')
    .addHelpText(
      'after',
      `
Examples:
  $ npm run connector -- scan status exports
  $ npm run connector -- scan status exports --watch 2 --no-ranges
  $ npm run --silent connector -- scan status exports --run 2026-01-31 --json

The exit code is 0 where a report was shown, whatever it says. What was read counts as far as slots have committed it: after a crash
the rows since the last commit are read and published again, and counted once.`,
    )
    .action(async (name: string, options: ScanStatusOptions) => {
      done(await scanStatus(context, name, options));
    });
}

function addCancel(scan: Command, context: CliContext, done: (code: ExitCode) => void): void {
  scan
    .command('cancel')
    .summary('cancel a run')
    .description(
      'Cancels a run: slots see it at their next look, a few seconds later, and read nothing more of it. What was published stays ' +
        'published. A run that is cancelled does not go on again.',
    )
    .argument(...PIPELINE)
    .option(...CONFIG)
    .option('-r, --run <id>', 'id of the run (default: the one that is under way)')
    .addHelpText(
      'after',
      `
Examples:
  $ npm run connector -- scan cancel exports
  $ npm run connector -- scan cancel exports --run 2026-01-31

The exit code is 0 where the run is cancelled, also where it was before; 1 where it ended otherwise, and where there is none.`,
    )
    .action(async (name: string, options: CancelOptions) => {
      done(await cancelScan(context, name, options));
    });
}

function addList(scan: Command, context: CliContext, done: (code: ExitCode) => void): void {
  scan
    .command('list')
    .summary('list the runs of a pipeline')
    .description('Lists the runs of a pipeline, the latest started first, with what they read once they have ended.')
    .argument(...PIPELINE)
    .option(...CONFIG)
    .option('-n, --limit <count>', 'most runs to list', positiveWhole, LISTED)
    .option('--json', 'print one JSON array; times are milliseconds since the epoch')
    .option('--no-ranges', 'show no row key that a problem names')
    .addHelpText(
      'after',
      `
Examples:
  $ npm run connector -- scan list exports
  $ npm run --silent connector -- scan list exports --limit 100 --json`,
    )
    .action(async (name: string, options: ListOptions) => {
      done(await listScans(context, name, options));
    });
}
