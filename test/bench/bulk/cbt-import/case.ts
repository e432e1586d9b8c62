import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startChild } from '../../../../infra/local/base/child-process.ts';
import { bundleProgram } from '../../support/bundled-program.ts';
import type { BenchCase, CaseReport } from '../../support/case.ts';
import { runProgram } from '../../support/program.ts';
import { interleave, type Measured, type Sample } from '../../support/rounds.ts';
import { ratioOf, spreadOf } from '../../support/statistics.ts';
import { FAMILY, TABLE } from '../rows.ts';
import { writeCsv } from './csv.ts';
import type { ImportArgument, ImportResult } from './importer-program.ts';
import { importServerName, startImportServer } from './server.ts';

const FULL_ROUNDS = 7;
const QUICK_ROUNDS = 3;
const FULL_ROWS = 100_000;
const QUICK_ROWS = 20_000;
const VALUE_BYTES = 1024;
const CBT_WORKERS = [1, 4, 8];

const RATE = 'rows per second';
const WAYS = ['data plane', 'batcher'] as const;
const oursName = (through: ImportArgument['through']): string => `CSV through the ${through}`;
const cbtName = (workers: number): string => `cbt import, ${workers} workers`;

/** Whole processes that import the same CSV into the same kind of server, each into an empty one. */
export const cbtImportCase: BenchCase = {
  name: 'cbt',
  title: `Import of CSV rows of ${VALUE_BYTES} bytes, 500 a request: the whole process, its start included`,
  async run(settings): Promise<CaseReport> {
    if (!isOnPath('cbt')) return { kind: 'skipped', reason: 'cbt is not on the PATH' };
    const folder = await mkdtemp(join(tmpdir(), 'bigtable-connector-bench-'));
    try {
      const rows = settings.isQuick ? QUICK_ROWS : FULL_ROWS;
      const file = join(folder, 'rows.csv');
      await writeCsv(file, rows, VALUE_BYTES);
      const importer = await bundleProgram(fileURLToPath(new URL('importer-program.ts', import.meta.url)), folder);
      const measured = await interleave(
        settings.runs ?? (settings.isQuick ? QUICK_ROUNDS : FULL_ROUNDS),
        [
          ...WAYS.map((through) => ({
            name: oursName(through),
            measure: () => timed(rows, (address) => importOurs(importer, { address, file, through }, rows)),
          })),
          ...CBT_WORKERS.map((workers) => ({
            name: cbtName(workers),
            measure: () => timed(rows, (address) => importWithCbt(address, file, workers)),
          })),
        ],
        settings,
      );
      const best = bestOfCbt(measured);
      return {
        kind: 'measured',
        series: measured.series(),
        ratios: [
          ratioOf(
            `${oursName('data plane')} / ${best}, ${RATE}`,
            measured.values(oursName('data plane'), RATE),
            measured.values(best, RATE),
            { atLeast: 1.2 },
          ),
        ],
        notes: [
          'cbt imports rows and does no more; the batcher also tells the records of many messages apart. It has no target here.',
          `Server: ${await importServerName()}, started empty for every import.`,
        ],
      };
    } finally {
      await rm(folder, { recursive: true });
    }
  },
};

const isOnPath = (program: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));

/** The fastest of its settings, by median: nobody is compared with a setting that he would not choose. */
const bestOfCbt = (measured: Measured): string =>
  CBT_WORKERS.map(cbtName).reduce((best, name) =>
    spreadOf(measured.values(name, RATE)).median > spreadOf(measured.values(best, RATE)).median ? name : best,
  );

async function timed(rows: number, importInto: (address: string) => Promise<void>): Promise<Sample> {
  await using server = await startImportServer();
  const startedAt = performance.now();
  await importInto(server.address);
  return { [RATE]: (rows * 1000) / (performance.now() - startedAt) };
}

async function importOurs(importer: string, argument: ImportArgument, rows: number): Promise<void> {
  const result = await runProgram<ImportResult>(importer, argument);
  if (result.rows !== rows) throw new Error(`${result.rows} of ${rows} rows were imported`);
}

async function importWithCbt(address: string, file: string, workers: number): Promise<void> {
  const child = await startChild({
    name: 'cbt',
    command: 'cbt',
    args: [
      ...['-project', TABLE.project, '-instance', TABLE.instance],
      ...['import', TABLE.table, file, `column-family=${FAMILY}`, 'batch-size=500', `workers=${workers}`],
    ],
    env: { BIGTABLE_EMULATOR_HOST: address },
  });
  const { code } = await child.exited;
  if (code !== 0) throw new Error(['cbt import failed:', ...child.lastLines()].join('\n  '));
}
