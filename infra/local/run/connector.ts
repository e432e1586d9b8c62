import { systemClock } from '../../../shared/base/clock.ts';
import { loadConfigFile } from '../../../shared/config/load.ts';
import { isSink, type ResolvedConfig } from '../../../shared/config/resolved.ts';
import type { EntryPointName } from '../../../shared/deployment/entry-points.ts';
import { type DeploymentPlan, planDeployment, subscriptionFor } from '../../../shared/deployment/plan.ts';
import type { PlannedSubscription } from '../../../shared/deployment/subscriptions.ts';
import type { TableName } from '../../../shared/model/table-name.ts';
import type { LocalCloud } from '../cloud/cloud.ts';
import { loadTableDeclarations } from '../cloud/table-declarations.ts';
import { ensureTables } from '../cloud/table-resources.ts';
import { type FeedOptions, openSubscription } from './feed.ts';
import type { FunctionProcess } from './function-process.ts';
import { startSchedule } from './scheduler.ts';
import { type FunctionsOptions, type RunningFunction, startFunctions } from './start-functions.ts';

export interface LocalConnectorOptions extends FunctionsOptions, FeedOptions {
  readonly cloud: LocalCloud;
  /** The tables to make first; see {@link loadTableDeclarations}. Without it tables are somebody else's business. */
  readonly tablesFile?: string;
  /**
   * How much faster time runs for the functions and their schedules, so that leases and intervals are not waited for.
   * Default 1. Their clocks agree with each other, and drift away from that of this process.
   */
  readonly functionTimeScale?: number;
}

/** A pipeline as its users see it: where its records go in and what comes out. */
export interface RunningPipeline {
  readonly name: string;
  readonly entryPoint: EntryPointName;
  /** The function that takes its records. */
  readonly function: FunctionProcess;
  readonly input: PlannedSubscription;
  /** Where dead letters are read; absent where no policy makes any. */
  readonly deadLetters?: PlannedSubscription;
  /** Where the results of requests are read; absent where none are published. */
  readonly results?: PlannedSubscription;
  /** The table of records that name none. */
  readonly table?: TableName;
}

export interface LocalConnector {
  readonly plan: DeploymentPlan;
  readonly pipelines: readonly RunningPipeline[];
  /** Every function of the plan, in its order. */
  readonly functions: readonly RunningFunction[];
  /** @throws {TypeError} where the configuration needs no such function. */
  functionOf(entryPoint: EntryPointName, pipeline?: string): RunningFunction;
  readonly warnings: readonly string[];
  /** Stops what feeds the functions, then the functions with SIGTERM, so that they drain. */
  stop(): Promise<void>;
}

/**
 * Runs a configuration on a local cloud: makes its tables, then works through its plan as a deployment would: functions,
 * subscriptions, schedules. What was started before a failure is stopped again.
 */
export async function startLocalConnector(options: LocalConnectorOptions): Promise<LocalConnector> {
  const { cloud, configFile, tablesFile, functionTimeScale: factor } = options;
  const { config, warnings } = await loadConfigFile(configFile);
  const plan = planDeployment(config, cloud.env.GOOGLE_CLOUD_PROJECT ?? 'local');
  if (tablesFile !== undefined) await makeTables(cloud, config, tablesFile);

  await using started = new AsyncDisposableStack();
  const clock = factor === undefined ? undefined : { factor, since: systemClock.now() };
  const functions = await startFunctions(plan, options, clock, started);
  const addressOf = (name: string): string => functionCalled(functions, name).process.url;
  for (const subscription of plan.subscriptions) {
    started.defer(await openSubscription(subscription, addressOf, options));
  }
  for (const schedule of plan.schedules) {
    const { label, process: shared, slots } = functionCalled(functions, schedule.function);
    const called = schedule.slot === undefined ? shared : (slots[schedule.slot] ?? shared);
    const scheduler = startSchedule(schedule, called.url, {
      ...(clock && { timeScale: clock.factor, since: clock.since }),
      onFailure: (message) => options.onLine?.(label, message),
    });
    started.defer(() => scheduler.stop());
  }
  const all = started.move();
  return {
    ...{ plan, functions, warnings },
    pipelines: Object.entries(config.pipelines).flatMap(([name, pipeline]) =>
      isSink(pipeline) ? [runningPipeline(name, pipeline.destination.table, plan, functions)] : [],
    ),
    functionOf(entryPoint, pipeline) {
      const found = functions.find(
        (one) => one.entryPoint === entryPoint && (pipeline === undefined || one.pipeline === pipeline),
      );
      if (!found) throw new TypeError(`${configFile} needs no ${entryPoint}`);
      return found;
    },
    stop: () => all.disposeAsync(),
  };
}

/** Bare table ids belong to the instance of the first pipeline that names one. */
async function makeTables({ bigtableHost }: LocalCloud, config: ResolvedConfig, tablesFile: string): Promise<void> {
  const homes = Object.values(config.pipelines).map((pipeline) =>
    isSink(pipeline) ? pipeline.destination.home : pipeline.table,
  );
  const home = homes.find((one) => one !== undefined);
  await ensureTables(bigtableHost, await loadTableDeclarations(tablesFile, home));
}

function runningPipeline(
  name: string,
  table: TableName | undefined,
  plan: DeploymentPlan,
  functions: readonly RunningFunction[],
): RunningPipeline {
  const input = subscriptionFor(plan, 'records', name);
  if (!input?.push) throw new TypeError(`nothing pushes the records of ${name}`);
  const { entryPoint, process: running } = functionCalled(functions, input.push.function);
  const [deadLetters, results] = [subscriptionFor(plan, 'dead-letters', name), subscriptionFor(plan, 'results', name)];
  return {
    ...{ name, entryPoint, function: running, input },
    ...(deadLetters && { deadLetters }),
    ...(results && { results }),
    ...(table && { table }),
  };
}

function functionCalled(functions: readonly RunningFunction[], name: string): RunningFunction {
  const found = functions.find((one) => one.name === name);
  if (!found) throw new TypeError(`the plan has no function ${name}`);
  return found;
}
