import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, InvalidArgumentError, Option } from 'commander';
import { systemClock, sleep } from '../../../shared/base/clock.ts';
import { describeExit } from '../base/child-process.ts';
import { startLocalCloud } from '../cloud/cloud.ts';
import { startLocalConnector, type LocalConnector } from './connector.ts';
import { LOCAL_CLOUD_MODES, type LocalCloudMode } from '../cloud/detection.ts';
import { describeLocal } from './describe.ts';
import { interruptSignal, runProgram } from '../base/program.ts';
import { printRows } from './rows.ts';
import type { FunctionProcess } from './function-process.ts';

/** The program behind `npm run local`: a connector.yaml on this machine until Ctrl-C. */

interface RunOptions {
  readonly config: string;
  readonly tables?: string;
  readonly emulators?: LocalCloudMode;
  readonly oneProcess: boolean;
  readonly timeScale: number;
}

const DEMO = fileURLToPath(new URL('../demo/', import.meta.url));

const factor = (text: string): number => {
  const value = Number(text);
  if (!(value >= 1 && value <= 1000)) throw new InvalidArgumentError('It is a number from 1 to 1000.');
  return value;
};
const rowLimit = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('It is a whole number above 0.');
  return value;
};

const program = new Command('npm run local --')
  .description('Runs a connector.yaml on this machine: Bigtable, Pub/Sub, Firestore and the functions, until Ctrl-C.')
  .option('--config <file>', 'the connector.yaml to run', `${DEMO}flights/connector.yaml`)
  .option(
    '--tables <file>',
    'the tables to make first (default: tables.yaml beside the configuration, where there is one)',
  )
  .addOption(
    new Option(
      '--emulators <mode>',
      'where servers come from that are not running already (default: LOCAL_CLOUD, or embedded)',
    ).choices(LOCAL_CLOUD_MODES),
  )
  .option('--one-process', 'all functions in one process at /fn/<name>, for a debugger', false)
  .option('--time-scale <factor>', 'divides the waiting times of the embedded Pub/Sub', factor, 1)
  .addHelpText(
    'after',
    `
It prints where everything runs, and lines for another shell that publish, read rows and read dead letters. Files beside
the configuration are used where they exist: tables.yaml, record.json to publish, request.json to send over HTTP.
A server that BIGTABLE_EMULATOR_HOST, PUBSUB_EMULATOR_HOST or FIRESTORE_EMULATOR_HOST names and that answers is used, and
never stopped. A first Ctrl-C drains the functions and stops everything; a second one kills it.`,
  )
  .action(runLocal);

program
  .command('rows <table>')
  .description('prints rows of project.instance.table from the Bigtable at BIGTABLE_EMULATOR_HOST')
  .option('--prefix <text>', 'only row keys that start with this', '')
  .option('--limit <rows>', 'at most this many', rowLimit, 10)
  .action(printRows);

async function runLocal(options: RunOptions): Promise<void> {
  const interrupted = interruptSignal();
  const { config, emulators, oneProcess, timeScale } = options;
  const tables = options.tables ?? fileBeside(config, 'tables.yaml');
  await using started = new AsyncDisposableStack();
  const cloud = await startLocalCloud({ ...(emulators && { mode: emulators }), timeScale });
  started.defer(() => cloud.close());
  const connector = await startLocalConnector({
    cloud,
    configFile: config,
    ...(tables !== undefined && { tablesFile: tables }),
    functions: oneProcess ? 'one-process' : 'process-each',
    onLine: (pipeline, line) => {
      process.stdout.write(`[${pipeline}] ${line}\n`);
    },
  });
  started.defer(() => connector.stop());
  process.stdout.write(describeLocal(cloud, connector, config));
  await keepRunning(connector, interrupted);
  process.stdout.write('\nDraining the functions; Ctrl-C again kills them.\n');
}

function fileBeside(file: string, name: string): string | undefined {
  const path = join(dirname(file), name);
  return existsSync(path) ? path : undefined;
}

const RESTART_MILLIS = 1000;

/** Until the signal: starts functions again that ended by themselves, as Cloud Run starts another instance. */
async function keepRunning({ functions }: LocalConnector, signal: AbortSignal): Promise<void> {
  const interrupted = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
  const isStopping = (): boolean => signal.aborted;
  const keep = async ({ label, running }: { readonly label: string; readonly running: FunctionProcess }) => {
    for (;;) {
      const ended = await Promise.race([running.exited, interrupted]);
      if (!ended || isStopping()) return;
      process.stdout.write(`[${label}] the function ended with ${describeExit(ended)}; it starts again\n`);
      await sleep(systemClock, RESTART_MILLIS, signal).catch(() => undefined);
      if (isStopping()) return;
      await running.restart();
    }
  };
  // Where all functions are in one process, it is kept by the first of them.
  const known = new Set<number>();
  const processes = functions
    .flatMap(({ label, process: one, slots }) => [one, ...slots].map((running) => ({ label, running })))
    .filter(({ running: { port } }) => !known.has(port) && known.add(port));
  await Promise.all([interrupted, ...processes.map(keep)]);
}

await runProgram(program);
