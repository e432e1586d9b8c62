import type { ResolvedScanSource } from '../../../shared/config/resolved.ts';
import type { RunsStore } from '../../../shared/scan/runs/ports.ts';
import { isUnderWay, type Run } from '../../../shared/scan/runs/run.ts';
import { RUN_ID } from '../../../shared/scan/runs/start-run.ts';
import { readPipeline } from '../configuration.ts';
import { usingDatabases } from '../databases.ts';
import { CommandError, UsageError } from '../errors.ts';
import type { CliContext } from '../ports.ts';

/** What each of the verbs has: the pipeline, and the runs of it in Firestore. */
export interface OpenedScan {
  readonly name: string;
  readonly pipeline: ResolvedScanSource;
  readonly runs: RunsStore;
}

export interface ScanOptions {
  readonly config?: string;
}

/**
 * Opens the runs of a pipeline for as long as `use` takes.
 *
 * @throws {CommandError} where there is no such pipeline, or it is no scan.
 */
export async function withScan<Result>(
  context: CliContext,
  name: string,
  { config }: ScanOptions,
  use: (scan: OpenedScan) => Promise<Result>,
): Promise<Result> {
  const { pipeline } = await readPipeline(context, name, config);
  if (pipeline.kind !== 'scan-source') {
    throw new CommandError(`the pipeline ${name} is a ${pipeline.kind}, which has no runs: name a scan-source`);
  }
  const database = context.store.database(pipeline.firestore);
  return usingDatabases(context, [database], () => use({ name, pipeline, runs: database.scan(name).runs }));
}

/** @throws {UsageError} where no run can have it. */
export function requireRunId(id: string | undefined): void {
  if (id === undefined || RUN_ID.test(id)) return;
  throw new UsageError(
    `--run takes up to 100 letters, digits and ".", "_", ":", "-", the first a letter or a digit, got ${JSON.stringify(id)}`,
  );
}

/** Runs that have neither ended nor been cancelled, the oldest first. */
export const readUnderWay = async (runs: RunsStore, signal: AbortSignal): Promise<readonly Run[]> =>
  (await runs.readOpenRuns(signal)).map(({ value }) => value).filter(isUnderWay);

/** How a verb is written for this pipeline. */
export const commandOf = (verb: string, name: string, run?: string): string =>
  `npm run connector -- scan ${verb} ${name}${run === undefined ? '' : ` --run ${run}`}`;
