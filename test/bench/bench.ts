import { writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BULK_CASES } from './bulk/cases.ts';
import { flatJsonCase } from './mapping/case.ts';
import { singleRowCase } from './single-row/case.ts';
import { STAGED_CASES } from './staged/cases.ts';
import type { BenchCase, CaseReport } from './support/case.ts';
import { renderCase } from './support/report.ts';

const USAGE = 'usage: npm run bench -- bulk|mapping|single-row|staged [--quick] [--runs N] [--only name]';

const SUITES: Readonly<Record<string, readonly BenchCase[]>> = {
  bulk: BULK_CASES,
  mapping: [flatJsonCase],
  'single-row': [singleRowCase],
  staged: STAGED_CASES,
};

/** `npm run bench`: measures, prints, and exits 1 where a full run misses a target. See README.md beside this file. */
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false }, runs: { type: 'string' }, only: { type: 'string' } },
});
const suite = SUITES[positionals[0] ?? ''];
const cases = suite?.filter(({ name }) => values.only === undefined || name === values.only) ?? [];
const runs = values.runs === undefined ? undefined : Number(values.runs);
if (!suite || cases.length === 0 || positionals.length !== 1 || !(runs === undefined || runs >= 1)) {
  const names = Object.entries(SUITES).map(([name, all]) => `${name}: ${all.map((each) => each.name).join(', ')}`);
  console.error([USAGE, ...names].join('\n  '));
  process.exit(1);
}

const progress = (line: string): void => void process.stderr.write(`  ${line}\n`);
console.log(`${describeMachine()}${values.quick ? '; quick sizes, whose figures are no evidence' : ''}`);
const reports: Record<string, CaseReport> = {};
for (const benchCase of cases) {
  progress(benchCase.title);
  const report = await benchCase.run({ isQuick: values.quick, runs, progress });
  reports[benchCase.name] = report;
  console.log(renderCase(benchCase, report));
}

const file = join(tmpdir(), `bigtable-connector-bench-${positionals[0] ?? ''}.json`);
await writeFile(file, JSON.stringify({ machine: describeMachine(), isQuick: values.quick, reports }, null, 2));
console.log(`\nall values: ${file}`);

const missed = Object.values(reports).flatMap((report) =>
  report.kind === 'measured' ? report.ratios.filter(({ isMet }) => !isMet) : [],
);
if (missed.length > 0) console.log(`${missed.length} of the targets were missed`);
process.exitCode = missed.length > 0 && !values.quick ? 1 : 0;

function describeMachine(): string {
  const [load = 0] = loadavg();
  return `Node ${process.versions.node}, ${availableParallelism()} × ${cpus()[0]?.model.trim() ?? 'CPU'}, load ${load.toFixed(1)} at the start`;
}
