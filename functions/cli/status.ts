import type { Command } from 'commander';
import type { ResolvedPipeline, ResolvedStaging } from '../../shared/config/resolved.ts';
import type { StatusStore } from '../../shared/staged/ports.ts';
import { noteWarnings, readConfiguration } from './configuration.ts';
import { usingDatabases } from './databases.ts';
import { CommandError, type ExitCode } from './errors.ts';
import { positiveNumber } from './option-values.ts';
import type { CliContext } from './ports.ts';
import { isUnattended, oldestOf, type PipelineFacts } from './status/facts.ts';
import { statusReport } from './status/report.ts';
import { type Watch, WATCH_SECONDS, watching } from './watch.ts';

export interface StatusOptions {
  readonly config?: string;
  readonly pipeline?: string;
  readonly watch?: Watch;
  readonly json?: true;
}

const CHECKPOINTS = 10;
const RESTS = 20;
/** Of each lane. */
const LOWEST = 10;

export function addStatus(program: Command, context: CliContext, done: (code: ExitCode) => void): void {
  program
    .command('status')
    .summary('show checkpoints, backlog and problems of staged pipelines')
    .description(
      'Reads from Firestore how staged pipelines get on: who coordinates them, what is staged and uncommitted, the last ' +
        'checkpoints with their time to visibility, the oldest segment that is not in its rows, and what is set apart, with the reason. Shows no row key and no value.',
    )
    .option(
      '-c, --config <file>',
      'configuration (default: what CONNECTOR_CONFIG or CONNECTOR_CONFIG_FILE says, else connector.yaml)',
    )
    .option('-p, --pipeline <name>', 'only this pipeline (default: every one that stages)')
    .option('-w, --watch [seconds]', `again and again until Ctrl-C (default: every ${WATCH_SECONDS} s)`, positiveNumber)
    .option('--json', 'print one JSON array for each report; times are milliseconds since the epoch')
    .addHelpText(
      'after',
      `
Examples:
  $ npm run connector -- status
  $ npm run connector -- status --pipeline orders --watch
  $ npm run --silent connector -- status --json

It needs roles/datastore.viewer. Every report reads a few hundred documents at most, whatever the backlog, and Firestore bills
reads. What to do about what it shows: shared/docs/exactly-once.md`,
    )
    .action(async (options: StatusOptions) => {
      done(await status(context, options));
    });
}

/** Configuration → what Firestore holds → a report, once or again and again. */
export async function status(context: CliContext, options: StatusOptions): Promise<ExitCode> {
  const pipelines = await choosePipelines(context, options);
  const opened = pipelines.map(({ name, staging }) => ({ name, database: context.store.database(staging.firestore) }));
  const databases = opened.map(({ database }) => database);
  let isFirst = true;
  return usingDatabases(context, databases, () =>
    watching(context, options.watch, async () => {
      const facts = await Promise.all(
        opened.map(({ name, database }) => readFacts(name, database.stage(name).status, context.signal)),
      );
      const now = context.clock.now();
      if (!isFirst) context.terminal.print('');
      isFirst = false;
      context.terminal.print(
        options.json ? asJson(facts, now) : facts.map((each) => statusReport(each, now)).join('\n\n'),
      );
      return true;
    }),
  );
}

async function choosePipelines(
  context: CliContext,
  { config: file, pipeline }: StatusOptions,
): Promise<readonly StagedPipeline[]> {
  const { config, source, warnings } = await readConfiguration(context, file);
  noteWarnings(context, warnings);
  const staged = stagedPipelinesOf(config.pipelines);
  const chosen = pipeline === undefined ? staged : staged.filter(({ name }) => name === pipeline);
  if (chosen.length > 0) return chosen;
  const known = staged.map(({ name }) => name).join(', ') || 'none';
  throw new CommandError(
    pipeline === undefined
      ? `${source} has no pipeline of kind staged-sink with the commit on-checkpoint: no other has checkpoints`
      : `${source} has no pipeline ${JSON.stringify(pipeline)} that stages (there is: ${known})`,
  );
}

async function readFacts(pipeline: string, store: StatusStore, signal: AbortSignal): Promise<PipelineFacts> {
  const [read, amounts, lowest, checkpoints, setApart] = await Promise.all([
    store.readPipeline(signal),
    store.countBacklog(signal),
    store.readLowest(LOWEST, signal),
    store.readCheckpoints(CHECKPOINTS, signal),
    store.readRests(RESTS, signal),
  ]);
  const state = read?.value;
  const oldest = state && oldestOf(lowest, state.completed);
  return { pipeline, ...(state && { state }), ...amounts, checkpoints, ...(oldest && { oldest }), setApart };
}

const asJson = (facts: readonly PipelineFacts[], now: number): string =>
  JSON.stringify(
    facts.map((each) => ({ ...each, isUnattended: isUnattended(each, now) })),
    undefined,
    2,
  );

/** What is kept of a staged pipeline, and where. */
interface StagedPipeline {
  readonly name: string;
  readonly staging: ResolvedStaging;
}

/** Those that stage, and so have checkpoints, among all. */
const stagedPipelinesOf = (pipelines: Readonly<Record<string, ResolvedPipeline>>): StagedPipeline[] =>
  Object.entries(pipelines).flatMap(([name, pipeline]) =>
    pipeline.kind === 'staged-sink' && pipeline.commit.when === 'on-checkpoint'
      ? [{ name, staging: pipeline.commit }]
      : [],
  );
