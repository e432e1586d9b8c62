import { Command, InvalidArgumentError, Option } from 'commander';
import { systemClock } from '../../../shared/base/clock.ts';
import { interruptSignal, runProgram } from '../base/program.ts';
import { LocalCloudError } from '../base/local-error.ts';
import { announce, DEMO_NAMES, DEMOS, type DemoName } from './demos.ts';
import type { RunOptions } from './base/run.ts';

/** The program behind `npm run demo`: exit code 0 only if every count is as it must be. */

const FEWEST_FLIGHTS = 1000;
/** The longest run; the last state on the screen then says what was missing. */
const LIMIT_MILLIS = 300_000;

interface DemoOptions extends Pick<RunOptions, 'source'> {
  readonly pipeline: DemoName;
  readonly flights?: number;
  readonly rows?: number;
}

function flightCount(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= FEWEST_FLIGHTS) return value;
  throw new InvalidArgumentError(`It is a whole number of at least ${FEWEST_FLIGHTS}.`);
}

const program = new Command('npm run demo --')
  .description(
    'Sends real flights through Pub/Sub and real functions into Bigtable, or out of it, all on this machine, and checks the result.',
  )
  .addOption(
    new Option('--pipeline <name>', DEMO_NAMES.map((name) => `${name}: ${DEMOS[name].about}`).join('; '))
      .choices(DEMO_NAMES)
      .default('flights'),
  )
  .option(
    '--flights <count>',
    `how many flights take part, ${FEWEST_FLIGHTS} or more (default: ${defaults('flights')})`,
    flightCount,
  )
  .option(
    '--rows <count>',
    `how many rows the table has, ${FEWEST_FLIGHTS} or more (default: ${defaults('rows')})`,
    flightCount,
  )
  .option('--source <folder>', 'run the functions of this folder, a bundle, instead of those of this repository')
  .addHelpText(
    'after',
    `
A run takes, with as many flights as it has by default:
${DEMO_NAMES.map((name) => `  ${name.padEnd(10)}${DEMOS[name].takes}`).join('\n')}
After ${LIMIT_MILLIS / 1000} s it gives up. The exit code is 0 only if every count is as it must be.
A first Ctrl-C ends the run and stops everything; a second one kills it. It always takes the embedded servers, and no
configuration of yours: npm run local runs that.`,
  )
  .action(async ({ pipeline, source, ...counts }: DemoOptions) => {
    const demo = DEMOS[pipeline];
    const { run, flights: bounds } = demo;
    const [option, other] = bounds.calledRows ? (['rows', 'flights'] as const) : (['flights', 'rows'] as const);
    if (counts[other] !== undefined) throw new LocalCloudError(`--${other}: ${pipeline} has --${option}`);
    const count = counts[option] ?? bounds.byDefault;
    if (count > bounds.atMost) {
      throw new LocalCloudError(`--${option}: ${pipeline} has ${bounds.atMost} at most, got ${count}`);
    }
    const limit = new AbortController();
    systemClock.after(LIMIT_MILLIS, () => {
      limit.abort(new LocalCloudError(`${LIMIT_MILLIS / 1000} s are over; the last line above says what was missing`));
    });
    process.stdout.write(announce(demo));
    const isRight = await run({
      flights: count,
      ...(source !== undefined && { source }),
      out: process.stdout,
      signal: AbortSignal.any([interruptSignal(), limit.signal]),
    });
    process.exitCode = isRight ? 0 : 1;
  });

function defaults(option: 'flights' | 'rows'): string {
  return DEMO_NAMES.map((name) => [name, DEMOS[name].flights] as const)
    .filter(([, { calledRows }]) => (calledRows ? 'rows' : 'flights') === option)
    .map(([name, { byDefault }]) => `${byDefault} of ${name}`)
    .join(', ');
}

await runProgram(program, 'the demo did not finish: ');
