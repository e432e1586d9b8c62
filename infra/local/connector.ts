import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadConfigFile } from '../../shared/config/load.ts';
import type { LocalCloud } from './cloud.ts';
import { planDeployment, type PipelineDeployment } from './deployment.ts';
import { startFunctionHostProcess, startFunctionProcess, type FunctionProcess } from './function-process.ts';
import { ensureSubscriptions, stopPush } from './pubsub-resources.ts';
import { startPullBridge } from './pull-bridge.ts';
import { loadTableDeclarations } from './table-declarations.ts';
import { ensureTables } from './table-resources.ts';
import { LocalCloudError } from './local-error.ts';

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
  /** Takes the log lines of the functions. */
  readonly onLine?: (pipeline: string, line: string) => void;
  /** Messages in flight where a bridge pushes in the place of Google's emulator. Default 64. */
  readonly bridgeConcurrency?: number;
}

export interface RunningPipeline extends PipelineDeployment {
  readonly function: FunctionProcess;
}

export interface LocalConnector {
  readonly pipelines: readonly RunningPipeline[];
  readonly warnings: readonly string[];
  /** Stops what feeds the functions, then the functions with SIGTERM, so that they drain. */
  stop(): Promise<void>;
}

/** The root of this repository: where package.json names the functions. */
export const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));

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
  const deadLetters = deployments.flatMap((deployment) => deployment.deadLetters ?? []);
  await ensureSubscriptions(cloud.pubsubHost, deadLetters);

  await using started = new AsyncDisposableStack();
  const pipelines: RunningPipeline[] = [];
  for (const deployment of deployments) {
    const running = await startFunction(deployment, deployments, options);
    started.defer(async () => {
      await running.stop();
    });
    pipelines.push({ ...deployment, function: running });
  }
  for (const pipeline of pipelines) {
    const stopFeeding = await feed(pipeline, options);
    started.defer(stopFeeding);
  }
  const all = started.move();
  return { pipelines, warnings, stop: () => all.disposeAsync() };
}

function startFunction(
  { name, target }: PipelineDeployment,
  all: readonly PipelineDeployment[],
  { cloud, configFile, functions, source = REPOSITORY, env, onLine }: LocalConnectorOptions,
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
    env: {
      ...cloud.env,
      CONNECTOR_CONFIG_FILE: resolve(configFile),
      // Inherited from a shell it would contradict the file.
      CONNECTOR_CONFIG: undefined,
      CONNECTOR_PIPELINE: name,
      ...env,
    },
    ...(onLine && {
      onLine: (line: string) => {
        onLine(name, line);
      },
    }),
  });
}

const BRIDGE_CONCURRENCY = 64;

/** Has messages brought to the function; the result ends that where this process does the bringing. */
async function feed(pipeline: RunningPipeline, options: LocalConnectorOptions): Promise<() => Promise<void>> {
  const { cloud, bridgeConcurrency = BRIDGE_CONCURRENCY } = options;
  const { source, function: target } = pipeline;
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
