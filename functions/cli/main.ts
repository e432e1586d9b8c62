import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type Clock, systemClock } from '../../shared/base/clock.ts';
import { toError } from '../../shared/base/errors.ts';
import { createDatabase } from '../../shared/google/firestore/database.ts';
import { openSubscriptionPuller } from '../../shared/google/pubsub/subscription-puller.ts';
import { createPublisher } from '../../shared/google/pubsub/publisher.ts';
import { runCli } from './cli.ts';
import { CommandError, InterruptedError } from './errors.ts';
import { LEASE_SECONDS } from './replay/ending.ts';
import { createTerminal } from './terminal.ts';

/** The command line of the connector: `npm run connector -- <verb>`. */

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    const reason = new InterruptedError(signal);
    // The first one ends the command, within a second; a second one ends the process, and leases with their time.
    if (interrupted.signal.aborted) process.exit(reason.exitCode);
    interrupted.abort(reason);
  });
}

function cannotConnect(error: unknown): never {
  const { message } = toError(error);
  throw new CommandError(
    `no access to Pub/Sub: ${message}. Log in with "gcloud auth application-default login", or set PUBSUB_EMULATOR_HOST`,
    { cause: error },
  );
}

// `| head` closes the pipe when it has enough: that is no error of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

// An emulator takes no credentials, so nothing needs to look for the metadata server, which takes two seconds.
const { PUBSUB_EMULATOR_HOST, FIRESTORE_EMULATOR_HOST } = process.env;
if (PUBSUB_EMULATOR_HOST !== undefined || FIRESTORE_EMULATOR_HOST !== undefined) {
  process.env.METADATA_SERVER_DETECTION ??= 'none';
}

/** More than a publish takes at most: a command has waited for its messages before it closes. */
const SHUTDOWN_MILLIS = 90_000;

/** Unlike the functions' clock this one holds the process: a command that waits is not finished. */
const clock: Clock = {
  ...systemClock,
  after(delayMillis, callback) {
    const timer = setTimeout(callback, delayMillis);
    return () => {
      clearTimeout(timer);
    };
  },
};

const code = await runCli(process.argv.slice(2), {
  env: process.env,
  terminal: createTerminal(process.stdout, process.stderr),
  input: {
    size: async (path) => (await stat(path)).size,
    read: (path) => createReadStream(path),
    stdin: process.stdin,
  },
  pubsub: {
    async publisher(topic, { isOrdered }) {
      const publisher = createPublisher({ topic, isOrdered, shutdownTimeoutMillis: SHUTDOWN_MILLIS }, clock);
      await publisher.open().catch(cannotConnect);
      return publisher;
    },
    puller: (subscription) => openSubscriptionPuller(subscription, LEASE_SECONDS, clock).catch(cannotConnect),
  },
  store: {
    database: ({ project, database }) =>
      createDatabase({ databaseId: database, ...(project !== undefined && { projectId: project }) }),
  },
  clock,
  signal: interrupted.signal,
});

// Whatever is still open (standard input, a module that was loaded) holds nobody up: what was printed is out by then.
process.stdout.write('', () => {
  process.exit(code);
});
