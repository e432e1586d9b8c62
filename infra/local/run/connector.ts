import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../../shared/base/clock.ts';
import { loadConfigFile } from '../../../shared/config/load.ts';
import type { LocalCloud } from '../cloud/cloud.ts';
import { planDeployment, type PipelineDeployment } from './deployment.ts';
import {
  type FasterClock,
  type FunctionProcess,
  startFunctionHostProcess,
  startFunctionProcess,
} from './function-process.ts';
import { ensureSubscriptions, type PipelineSubscription, stopPush } from '../cloud/pubsub-resources.ts';
import { startPullBridge } from './pull-bridge.ts';
import { SHORTEST_INTERVAL_MILLIS, startScheduler } from './scheduler.ts';
import { loadTableDeclarations } from '../cloud/table-declarations.ts';
import { ensureTables } from '../cloud/table-resources.ts';
import { LocalCloudError } from '../base/local-error.ts';

export interface LocalConnectorOptions {
  readonly cloud: LocalCloud;
  /** The connector.yaml to run. */
  readonly configFile: string;
  /** The tables to make first; see {@link loadTableDeclarations}. Without it tables are somebody else's business. */
  readonly tablesFile?: string;
  /** Where the functions come from. Default: this repository. */
  readonly source?: string;
  /** `process-each`, as deployed: one process per pipeline. `one-process`: all in one, for a debugger. */
  readonly functions?: 'process-each' | 'one-process';
  readonly env?: Readonly<Record<string, string | undefined>>;
  /**
   * How much faster time runs for the functions and their scheduler, so that leases and intervals are not waited for.
   * Default 1. Their clocks agree with each other, and drift away from that of this process.
   */
  readonly functionTimeScale?: number;
  /** Takes the log lines of the functions. */
  readonly onLine?: (pipeline: string, line: string) => void;
  /** Messages in flight where a bridge pushes in the place of Google's emulator. Default 64. */
  readonly bridgeConcurrency?: number;
}

export interface RunningPipeline extends PipelineDeployment {
  readonly function: FunctionProcess;
}

/** A function that no publisher knows of: a committer, the coordinator, or one that answers requests over HTTP. */
export interface InternalFunction {
  /** The pipeline that it belongs to; the coordinator belongs to all. */
  readonly name: string;
  readonly target: string;
  /** What feeds it: a topic, a schedule, or HTTP. */
  readonly trigger: string;
  readonly function: FunctionProcess;
}

export interface LocalConnector {
  readonly pipelines: readonly RunningPipeline[];
  readonly internal: readonly InternalFunction[];
  readonly warnings: readonly string[];
  /** Stops what feeds the functions, then the functions with SIGTERM, so that they drain. */
  stop(): Promise<void>;
}

/** The root of this repository: where package.json names the functions. */
export const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));

/**
 * Runs a configuration on a local cloud: makes what a deployment would make, starts the functions, and has messages
 * pushed to them. What was started before a failure is stopped again.
 */
export async function startLocalConnector(options: LocalConnectorOptions): Promise<LocalConnector> {
  const { cloud, configFile, tablesFile } = options;
  const { config, warnings } = await loadConfigFile(configFile);
  const deployments = planDeployment(config, cloud.env.GOOGLE_CLOUD_PROJECT ?? 'local');
  if (tablesFile !== undefined) {
    const home = deployments.find((deployment) => deployment.home)?.home;
    await ensureTables(cloud.bigtableHost, await loadTableDeclarations(tablesFile, home));
  }
  const readers = deployments.flatMap(({ deadLetters, results }) => [deadLetters ?? [], results ?? []].flat());
  await ensureSubscriptions(cloud.pubsubHost, readers);

  await using started = new AsyncDisposableStack();
  const { functionTimeScale: factor } = options;
  const clock = factor === undefined ? undefined : { factor, since: systemClock.now() };
  const run = async (deployment: PipelineDeployment): Promise<FunctionProcess> => {
    const running = await startFunction(deployment, deployments, options, clock);
    started.defer(async () => {
      await running.stop();
    });
    return running;
  };
  const pipelines: RunningPipeline[] = [];
  const internal: InternalFunction[] = [];
  for (const deployment of deployments) {
    const running = await run(deployment);
    pipelines.push({ ...deployment, function: running });
    if (deployment.target === 'requestSink') {
      const answering = await beside(running, { ...deployment, target: 'rowRequest' }, options, run);
      internal.push({ name: deployment.name, target: 'rowRequest', trigger: 'HTTP', function: answering });
    }
    if (!deployment.work) continue;
    const committer = await beside(running, { ...deployment, target: 'commitStaged' }, options, run);
    internal.push({
      name: deployment.name,
      target: 'commitStaged',
      trigger: deployment.work.topic,
      function: committer,
    });
    started.defer(await feed(deployment.work, committer, options));
  }
  const staged = pipelines.find(({ work }) => work);
  if (staged) {
    // One for all pipelines, so it is told of none.
    const coordinator = await beside(staged.function, { ...staged, name: '', target: 'coordinate' }, options, run);
    internal.push({ name: 'coordinator', target: 'coordinate', trigger: 'every minute', function: coordinator });
    const scheduler = startScheduler({
      url: coordinator.url,
      intervalMillis: SHORTEST_INTERVAL_MILLIS / (clock?.factor ?? 1),
      onFailure: (message) => options.onLine?.('coordinator', message),
    });
    started.defer(() => scheduler.stop());
  }
  for (const { source, function: target } of pipelines) started.defer(await feed(source, target, options));
  const all = started.move();
  return { pipelines, internal, warnings, stop: () => all.disposeAsync() };
}

/** A further function: a process of its own, or where all are in one process another address of that. */
async function beside(
  running: FunctionProcess,
  deployment: PipelineDeployment,
  { functions }: LocalConnectorOptions,
  run: (deployment: PipelineDeployment) => Promise<FunctionProcess>,
): Promise<FunctionProcess> {
  return functions === 'one-process' ? running.beside(deployment.target) : run(deployment);
}

function startFunction(
  { name, target }: PipelineDeployment,
  all: readonly PipelineDeployment[],
  { cloud, configFile, functions, source = REPOSITORY, env, onLine }: LocalConnectorOptions,
  clock: FasterClock | undefined,
): Promise<FunctionProcess> {
  const isShared = functions === 'one-process';
  if (isShared && all.length > 1) {
    throw new LocalCloudError(
      `one process serves one pipeline of a kind, and ${configFile} has ${all.length}: run a process for each`,
    );
  }
  const start = isShared ? startFunctionHostProcess : startFunctionProcess;
  return start(target, {
    source,
    ...(clock && { clock }),
    env: {
      ...cloud.env,
      CONNECTOR_CONFIG_FILE: resolve(configFile),
      // Inherited from a shell it would contradict the file.
      CONNECTOR_CONFIG: undefined,
      CONNECTOR_PIPELINE: name === '' ? undefined : name,
      ...env,
    },
    ...(onLine && {
      onLine: (line: string) => {
        onLine(name === '' ? 'coordinator' : name, line);
      },
    }),
  });
}

const BRIDGE_CONCURRENCY = 64;

/** Has messages brought to the function; the result ends that where this process does the bringing. */
async function feed(
  source: PipelineSubscription,
  target: FunctionProcess,
  options: LocalConnectorOptions,
): Promise<() => Promise<void>> {
  const { cloud, bridgeConcurrency = BRIDGE_CONCURRENCY } = options;
  if (!cloud.needsPullBridge) {
    await ensureSubscriptions(cloud.pubsubHost, [{ ...source, pushEndpoint: target.url }]);
    return () => stopPush(cloud.pubsubHost, source.subscription);
  }
  await ensureSubscriptions(cloud.pubsubHost, [source]);
  const bridge = await startPullBridge({
    pubsubHost: cloud.pubsubHost,
    projectId: source.subscription.split('/')[1] ?? '',
    subscription: source.subscription,
    endpoint: target.url,
    concurrency: bridgeConcurrency,
  });
  return () => bridge.close();
}
