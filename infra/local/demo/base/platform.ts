import { Bigtable, type Table } from '@google-cloud/bigtable';
import { PubSub } from '@google-cloud/pubsub';
import type { TableName } from '../../../../shared/model/table-name.ts';
import type { LocalBigtable } from '../../servers/bigtable/server.ts';
import { startLocalCloud, type LocalCloud, type LocalCloudOptions } from '../../cloud/cloud.ts';
import { startLocalConnector, type LocalConnector } from '../../run/connector.ts';
import type { LocalFirestore } from '../../servers/firestore/server.ts';
import type { LocalPubSub } from '../../servers/pubsub/server.ts';
import { FunctionMetrics } from './function-metrics.ts';

/** See the options of the embedded servers for those that are not said here. */
export interface ServersOptions extends Pick<LocalCloudOptions, 'readRowBytes' | 'firestoreTimeScale'> {
  /** Divides the waiting times of Pub/Sub: with 10, a refused message comes back after 1 s at the earliest. */
  readonly timeScale: number;
  /** Pushes under way at once. Default: that of the embedded Pub/Sub. */
  readonly pushConcurrency?: number | undefined;
}

export interface PlatformOptions extends Pick<ServersOptions, 'timeScale' | 'pushConcurrency'> {
  readonly configFile: string;
  readonly tablesFile: string;
  /** How much faster the clocks of the functions run. Default 1. */
  readonly functionTimeScale?: number | undefined;
  /** Where the functions come from. Default: this repository; else the folder of a bundle. */
  readonly source?: string | undefined;
  /** Takes the lines of the functions' logs. */
  readonly onLine?: (pipeline: string, line: string) => void;
}

/** Embedded servers in this process, and Google's clients for them. */
export interface Servers extends AsyncDisposable {
  readonly cloud: LocalCloud;
  /** The embedded servers, with their faults and counters. */
  readonly servers: {
    readonly bigtable: LocalBigtable;
    readonly pubsub: LocalPubSub;
    readonly firestore: LocalFirestore;
  };
  readonly pubsub: PubSub;
  readonly tableOf: (name: TableName) => Table;
}

/** What every run stands on: servers, and functions in processes of theirs. */
export interface Platform extends Servers {
  readonly connector: LocalConnector;
  /** What the functions report of themselves. */
  readonly metrics: FunctionMetrics;
}

/** Always the embedded servers, whatever the environment names: a run counts on what they count. */
export async function openServers({ timeScale, pushConcurrency, ...others }: ServersOptions): Promise<Servers> {
  await using opened = new AsyncDisposableStack();
  const cloud = await startLocalCloud({
    ...{ mode: 'embedded', timeScale, env: {}, ...others },
    ...(pushConcurrency !== undefined && { pushConcurrency }),
  });
  opened.defer(() => cloud.close());
  const { bigtable, pubsub: pubsubServer, firestore } = cloud;
  if (!bigtable || !pubsubServer || !firestore) throw new TypeError('a run needs embedded servers in this process');

  const projectId = cloud.env.GOOGLE_CLOUD_PROJECT ?? 'local';
  const pubsub = new PubSub({ projectId, apiEndpoint: cloud.pubsubHost, emulatorMode: true });
  opened.defer(() => pubsub.close());
  // Its own metrics exporter would end the process: it looks for credentials that are not here.
  const client = new Bigtable({ projectId, apiEndpoint: cloud.bigtableHost, metricsEnabled: false });
  opened.defer(() => client.close().then(() => undefined));
  const all = opened.move();
  return {
    ...{ cloud, pubsub },
    servers: { bigtable, pubsub: pubsubServer, firestore },
    tableOf: ({ instance, table }) => client.instance(instance).table(table),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

export async function openPlatform(options: PlatformOptions): Promise<Platform> {
  const { configFile, tablesFile, timeScale, pushConcurrency, functionTimeScale, source, onLine } = options;
  const metrics = new FunctionMetrics();
  await using opened = new AsyncDisposableStack();
  const servers = opened.use(await openServers({ timeScale, pushConcurrency }));
  const connector = await startLocalConnector({
    ...{ cloud: servers.cloud, configFile, tablesFile },
    ...(functionTimeScale !== undefined && { functionTimeScale }),
    ...(source !== undefined && { source }),
    onLine: (pipeline, line) => {
      metrics.add(line);
      onLine?.(pipeline, line);
    },
  });
  opened.defer(() => connector.stop());
  const all = opened.move();
  return { ...servers, connector, metrics, [Symbol.asyncDispose]: () => all.disposeAsync() };
}
