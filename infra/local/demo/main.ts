import { Command, InvalidArgumentError, Option } from 'commander';
import { systemClock } from '../../../shared/base/clock.ts';
import { interruptSignal } from '../interrupt.ts';
import { failureText, LocalCloudError } from '../local-error.ts';
import { DEMO_PIPELINE_NAMES } from './demo-pipelines.ts';
import { FLIGHTS } from './flights.ts';
import { runDemo, type DemoOptions } from './run.ts';

/** The program behind `npm run demo`: exit code 0 only if every count is as it must be. */

const DEFAULT_FLIGHTS = 60_000;
const FEWEST_FLIGHTS = 1000;
/** The longest run; the last state on the screen then says what was missing. */
const LIMIT_MILLIS = 300_000;

function flightCount(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= FEWEST_FLIGHTS && value <= FLIGHTS) return value;
  throw new InvalidArgumentError(`It is a whole number from ${FEWEST_FLIGHTS} to ${FLIGHTS}.`);
}

const program = new Command('npm run demo --')
  .description(
    'Publishes real flights through Pub/Sub and a real function into Bigtable, all on this machine, and checks the result.',
  )
  .addOption(
    new Option(
      '--pipeline <name>',
      'flights: rows are made by a serializer, in TypeScript; mapped: by a mapping, in YAML alone',
    )
      .choices(DEMO_PIPELINE_NAMES)
      .default('flights'),
  )
  .option('--flights <count>', 'how many flights take part', flightCount, DEFAULT_FLIGHTS)
  .option('--source <folder>', 'run the function of this folder, a bundle, instead of that of this repository')
  .action(async (options: Pick<DemoOptions, 'pipeline' | 'flights' | 'source'>) => {
    const limit = new AbortController();
    systemClock.after(LIMIT_MILLIS, () => {
      limit.abort(new LocalCloudError(`${LIMIT_MILLIS / 1000} s are over; the last line above says what was missing`));
    });
    const isRight = await runDemo({
      ...options,
      out: process.stdout,
      signal: AbortSignal.any([interruptSignal(), limit.signal]),
    });
    process.exitCode = isRight ? 0 : 1;
  });

// The clients would look for Google's metadata server, which is not here.
process.env.METADATA_SERVER_DETECTION = 'none';
try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`the demo did not finish: ${failureText(error)}\n`);
  process.exitCode = 1;
}
