import type { LocalBigtable } from '../servers/bigtable/server.ts';
import { startChild, untilChildAnswers, type Child } from '../base/child-process.ts';
import { findEmulator, type EmulatorCommand, type ServiceName } from './cloud-sdk.ts';
import { chooseBackend, HOST_VARIABLES, parseMode, type Choice, type LocalCloudMode } from './detection.ts';
import { startEmbeddedHere, startEmbeddedInChild, type EmbeddedOptions, type EmbeddedServers } from './embedded.ts';
import type { LocalFirestore } from '../servers/firestore/server.ts';
import type { LocalPubSub } from '../servers/pubsub/server.ts';
import { answersTcp, freePort, LOOPBACK } from '../base/tcp.ts';

export interface LocalCloudOptions {
  /** Default: the variable `LOCAL_CLOUD`, and `embedded` without it. */
  readonly mode?: LocalCloudMode;
  /** Where the embedded servers run. `child` keeps them alive, and fast, whatever this process does. Default `here`. */
  readonly placement?: 'here' | 'child';
  /** Options of the embedded servers; see {@link EmbeddedOptions}. */
  readonly timeScale?: number;
  readonly pushConcurrency?: number;
  readonly readRowBytes?: number;
  readonly firestoreTimeScale?: number;
  /** Default: the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What `GOOGLE_CLOUD_PROJECT` is for the clients when the environment names none. Default `local`. */
  readonly project?: string;
}

/** One line of the table that says where everything is. */
export interface ServiceReport {
  readonly service: ServiceName;
  readonly kind: 'existing' | 'google' | 'embedded';
  /** `host:port`. */
  readonly endpoint: string;
  /** Why this backend and not another. */
  readonly why: string;
}

export interface LocalCloud {
  readonly services: readonly ServiceReport[];
  readonly warnings: readonly string[];
  readonly bigtableHost: string;
  readonly pubsubHost: string;
  readonly firestoreHost: string;
  /** Google's Pub/Sub emulator pushes two messages at a time: a bridge pulls and pushes in its place. */
  readonly needsPullBridge: boolean;
  /** The variables by which Google's clients and the connector find this cloud. */
  readonly env: Readonly<Record<string, string>>;
  /** The embedded servers, where they run in this process. */
  readonly bigtable?: LocalBigtable;
  readonly pubsub?: LocalPubSub;
  readonly firestore?: LocalFirestore;
  /** Stops what was started, and nothing else. */
  close(): Promise<void>;
}

const SERVICES = ['bigtable', 'pubsub', 'firestore'] as const satisfies readonly ServiceName[];

/**
 * Makes Bigtable, Pub/Sub and Firestore available on this machine and says where. Each service is decided by itself: a host that
 * is set and answers is used and never stopped; then Google's emulator where the mode asks for it and the Cloud SDK
 * has it; then the embedded server. What was started before a failure is stopped again.
 */
export async function startLocalCloud(options: LocalCloudOptions = {}): Promise<LocalCloud> {
  const env = options.env ?? process.env;
  const mode = options.mode ?? parseMode(env.LOCAL_CLOUD);
  const choices = await Promise.all(SERVICES.map((service) => detect(service, mode, env)));

  await using started = new AsyncDisposableStack();
  const embedded = await startEmbedded(choices, options);
  started.defer(() => embedded.close());
  const services: ServiceReport[] = [];
  for (const { service, choice } of choices) {
    services.push({
      service,
      kind: choice.kind,
      why: choice.why,
      endpoint: await endpointOf(service, choice, embedded, started),
    });
  }
  const host = (name: ServiceName): string => services.find(({ service }) => service === name)!.endpoint;
  const running = started.move();
  return {
    services,
    warnings: choices.flatMap(({ choice }) => choice.warning ?? []),
    bigtableHost: host('bigtable'),
    pubsubHost: host('pubsub'),
    firestoreHost: host('firestore'),
    needsPullBridge: services.some(({ service, kind }) => service === 'pubsub' && kind === 'google'),
    env: {
      [HOST_VARIABLES.bigtable]: host('bigtable'),
      [HOST_VARIABLES.pubsub]: host('pubsub'),
      [HOST_VARIABLES.firestore]: host('firestore'),
      GOOGLE_CLOUD_PROJECT: env.GOOGLE_CLOUD_PROJECT ?? options.project ?? 'local',
      // No client looks for Google's metadata server, which is not here.
      METADATA_SERVER_DETECTION: 'none',
    },
    ...(embedded.bigtable && { bigtable: embedded.bigtable }),
    ...(embedded.pubsub && { pubsub: embedded.pubsub }),
    ...(embedded.firestore && { firestore: embedded.firestore }),
    close: () => running.disposeAsync(),
  };
}

interface Detected {
  readonly service: ServiceName;
  readonly choice: Choice;
}

async function detect(
  service: ServiceName,
  mode: LocalCloudMode,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Detected> {
  const value = env[HOST_VARIABLES[service]];
  const host = value === '' ? undefined : value;
  const hostAnswers = host !== undefined && (await answersTcp(host));
  const isSearched = !hostAnswers && mode !== 'embedded';
  const choice = chooseBackend({
    service,
    mode,
    ...(host !== undefined && { host }),
    hostAnswers,
    ...(isSearched && { emulator: await findEmulator(service, env) }),
  });
  return { service, choice };
}

function startEmbedded(choices: readonly Detected[], options: LocalCloudOptions): Promise<EmbeddedServers> {
  const services = choices.filter(({ choice }) => choice.kind === 'embedded').map(({ service }) => service);
  const { timeScale, pushConcurrency, readRowBytes, firestoreTimeScale } = options;
  const wanted: EmbeddedOptions = { services, timeScale, pushConcurrency, readRowBytes, firestoreTimeScale };
  const isApart = options.placement === 'child' && services.length > 0;
  return isApart ? startEmbeddedInChild(wanted) : startEmbeddedHere(wanted);
}

async function endpointOf(
  service: ServiceName,
  choice: Choice,
  embedded: EmbeddedServers,
  started: AsyncDisposableStack,
): Promise<string> {
  switch (choice.kind) {
    case 'existing':
      return choice.endpoint;
    case 'embedded':
      return embedded.addresses[service]!;
    case 'google': {
      const { child, address } = await startEmulator(service, choice.emulator);
      started.defer(async () => {
        await child.stop(EMULATOR_GRACE_MILLIS);
      });
      return address;
    }
  }
}

const EMULATOR_READY_MILLIS = 45_000;
const EMULATOR_GRACE_MILLIS = 3_000;

async function startEmulator(
  service: ServiceName,
  emulator: EmulatorCommand,
): Promise<{ readonly child: Child; readonly address: string }> {
  const port = await freePort();
  const address = `${LOOPBACK}:${port}`;
  const name = `Google's ${service} emulator`;
  const child = await startChild({ name, command: emulator.command, args: emulator.args(port) });
  await untilChildAnswers(child, name, address, EMULATOR_READY_MILLIS);
  return { child, address };
}
