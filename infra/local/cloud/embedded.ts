import { fileURLToPath } from 'node:url';
import { startBigtableServer, type LocalBigtable } from '../servers/bigtable/server.ts';
import { systemClock } from '../../../shared/base/clock.ts';
import { acceleratedClock } from '../base/accelerated-clock.ts';
import { ChildProcessError, startChild } from '../base/child-process.ts';
import type { ServiceName } from './cloud-sdk.ts';
import { startFirestoreServer, type LocalFirestore } from '../servers/firestore/server.ts';
import { startPubSubServer, type LocalPubSub } from '../servers/pubsub/server.ts';

/** The embedded servers to start; a service that is absent comes from elsewhere. */
export interface EmbeddedOptions {
  readonly services: readonly ServiceName[];
  /** Divides every backoff and deadline of the embedded Pub/Sub, so that a redelivery is not waited for. Default 1. */
  readonly timeScale?: number | undefined;
  /** Most pushes in flight of one subscription. */
  readonly pushConcurrency?: number | undefined;
  /** Ceiling of single-row transactions on one row of the embedded Bigtable. Default: none. */
  readonly rowTransactionsPerSecond?: number | undefined;
  /** Whether the embedded Bigtable looks at every cell of a row, whatever a filter names. Default: false. */
  readonly scansRows?: boolean | undefined;
  /** Largest row that the embedded Bigtable reads, in bytes. Default: the service's 256 MiB. */
  readonly readRowBytes?: number | undefined;
  /** How much faster the clock of the embedded Firestore runs, by which slots are leased. Default 1. */
  readonly firestoreTimeScale?: number | undefined;
}

export interface EmbeddedServers {
  readonly addresses: Readonly<Partial<Record<ServiceName, string>>>;
  /** The servers themselves, for faults and counters; only where they run in this process. */
  readonly bigtable?: LocalBigtable;
  readonly pubsub?: LocalPubSub;
  readonly firestore?: LocalFirestore;
  close(): Promise<void>;
}

/** Starts them in this process: their faults and counters are at hand, their work shares this event loop. */
export async function startEmbeddedHere(options: EmbeddedOptions): Promise<EmbeddedServers> {
  const { services, timeScale, pushConcurrency, rowTransactionsPerSecond, scansRows, readRowBytes } = options;
  const { firestoreTimeScale } = options;
  const bigtable = services.includes('bigtable')
    ? await startBigtableServer({
        ...(rowTransactionsPerSecond !== undefined && { rowTransactionsPerSecond }),
        ...(scansRows !== undefined && { scansRows }),
        ...(readRowBytes !== undefined && { limits: { readRowBytes } }),
      })
    : undefined;
  const pubsub = services.includes('pubsub')
    ? await startPubSubServer({
        ...(timeScale !== undefined && { timeScale }),
        ...(pushConcurrency !== undefined && { pushConcurrency }),
      })
    : undefined;
  const firestore = services.includes('firestore')
    ? await startFirestoreServer({
        ...(firestoreTimeScale !== undefined && { clock: acceleratedClock(systemClock, firestoreTimeScale) }),
      })
    : undefined;
  return {
    addresses: {
      ...(bigtable && { bigtable: bigtable.address }),
      ...(pubsub && { pubsub: pubsub.address }),
      ...(firestore && { firestore: firestore.address }),
    },
    ...(bigtable && { bigtable }),
    ...(pubsub && { pubsub }),
    ...(firestore && { firestore }),
    async close() {
      await firestore?.close();
      await pubsub?.close();
      await bigtable?.close();
    },
  };
}

/** What the child process sends when its servers are up. */
export interface EmbeddedReady {
  readonly addresses: EmbeddedServers['addresses'];
}

const isReady = (message: unknown): message is EmbeddedReady =>
  typeof message === 'object' && message !== null && 'addresses' in message;

const END_WITH_PARENT = new URL('../base/end-with-parent.ts', import.meta.url).href;

/** Starts them in a process of their own, with an event loop of their own, that ends with this one however it ends. */
export async function startEmbeddedInChild(options: EmbeddedOptions): Promise<EmbeddedServers> {
  const ready = Promise.withResolvers<EmbeddedReady>();
  const child = await startChild({
    name: 'the embedded servers',
    command: process.execPath,
    args: [
      '--import',
      END_WITH_PARENT,
      fileURLToPath(new URL('embedded-program.ts', import.meta.url)),
      JSON.stringify(options),
    ],
    onMessage(message) {
      if (isReady(message)) ready.resolve(message);
    },
  });
  const failed = child.exited.then(() => {
    throw new ChildProcessError(['the embedded servers ended; their last lines:', ...child.lastLines()].join('\n  '));
  });
  const { addresses } = await Promise.race([ready.promise, failed]);
  // From here on an exit is somebody's decision, or shows as refused connections.
  failed.catch(() => undefined);
  return {
    addresses,
    async close() {
      await child.stop();
    },
  };
}
