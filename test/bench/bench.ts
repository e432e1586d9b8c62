import { writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Argument, Command, InvalidArgumentError } from 'commander';
import { tellsUsage } from '../../infra/local/base/program.ts';
import { nearestName } from '../../shared/config/nearest.ts';
import { BULK_CASES } from './bulk/cases.ts';
import { flatJsonCase } from './mapping/case.ts';
import { SCAN_CASES } from './scan/cases.ts';
import { singleRowCase } from './single-row/case.ts';
import { STAGED_CASES } from './staged/cases.ts';
import type { BenchCase, CaseReport } from './support/case.ts';
import { renderCase } from './support/report.ts';

const SUITES: Readonly<Record<string, readonly BenchCase[]>> = {
  bulk: BULK_CASES,
  mapping: [flatJsonCase],
  scan: SCAN_CASES,
  'single-row': [singleRowCase],
  staged: STAGED_CASES,
};

interface BenchOptions {
  readonly quick?: true;
  readonly runs?: number;
  readonly only?: string;
}

/** `npm run bench`: measures, prints, and exits 1 where a full run misses a target. See README.md beside this file. */
const program = tellsUsage(
  new Command('npm run bench --')
    .description('Measures the connector beside the official clients. A full run wants the machine for itself.')
    .addArgument(new Argument('<suite>', 'the cases to run').choices(Object.keys(SUITES)))
    .option('--quick', 'small sizes: whether it runs, and roughly where it stands')
    .option('--runs <count>', 'rounds of every case, in place of its own number', roundCount)
    .option('--only <case>', 'one case of the suite')
    .addHelpText(
      'after',
      `
Cases:
${Object.entries(SUITES)
  .map(([name, all]) => `  ${name}: ${all.map((each) => each.name).join(', ')}`)
  .join('\n')}

Exit codes: 0 every target is met, or --quick; 1 one was missed; 2 the command line is wrong.`,
    ),
).parse();
const suite = program.args[0] ?? '';
const { quick: isQuick = false, runs, only } = program.opts<BenchOptions>();
const cases = SUITES[suite]?.filter(({ name }) => only === undefined || name === only) ?? [];
if (cases.length === 0) {
  const known = SUITES[suite]?.map(({ name }) => name) ?? [];
  const near = nearestName(only ?? '', known);
  const meant = near === undefined ? `there is: ${known.join(', ')}` : `did you mean ${near}?`;
  program.error(`error: option '--only <case>': ${suite} has no case '${only ?? ''}' (${meant})`);
}

const progress = (line: string): void => void process.stderr.write(`  ${line}\n`);
console.log(`${describeMachine()}${isQuick ? '; quick sizes, whose figures are no evidence' : ''}`);
const reports: Record<string, CaseReport> = {};
for (const benchCase of cases) {
  progress(benchCase.title);
  const report = await benchCase.run({ isQuick, runs, progress });
  reports[benchCase.name] = report;
  console.log(renderCase(benchCase, report));
}

const file = join(tmpdir(), `bigtable-connector-bench-${suite}.json`);
await writeFile(file, JSON.stringify({ machine: describeMachine(), isQuick: isQuick, reports }, null, 2));
console.log(`\nall values: ${file}`);

const missed = Object.values(reports).flatMap((report) =>
  report.kind === 'measured' ? report.ratios.filter(({ isMet }) => !isMet) : [],
);
if (missed.length > 0) console.log(`${missed.length} of the targets were missed`);
process.exitCode = missed.length > 0 && !isQuick ? 1 : 0;

function roundCount(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1) return value;
  throw new InvalidArgumentError('It is a whole number of at least 1.');
}

function describeMachine(): string {
  const [load = 0] = loadavg();
  return `Node ${process.versions.node}, ${availableParallelism()} × ${cpus()[0]?.model.trim() ?? 'CPU'}, load ${load.toFixed(1)} at the start`;
}
