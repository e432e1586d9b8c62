import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { systemClock } from '../../shared/base/clock.ts';
import { openSubscriptionPuller } from '../../shared/google/pubsub/subscription-puller.ts';
import { openTopicPublisher } from '../../shared/google/pubsub/topic-publisher.ts';
import { runCli } from './cli.ts';
import { CommandError } from './errors.ts';
import { createTerminal } from './terminal.ts';

/** The command line of the connector: `npm run connector -- <verb>`. */

const interrupted = new AbortController();
// Only the first Ctrl-C: a second one ends the process as usual.
process.once('SIGINT', () => {
  interrupted.abort(new CommandError('interrupted'));
});

process.exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  terminal: createTerminal(process.stdout, process.stderr),
  input: {
    size: async (path) => (await stat(path)).size,
    read: (path) => createReadStream(path),
    stdin: process.stdin,
  },
  pubsub: { publisher: openTopicPublisher, puller: openSubscriptionPuller },
  clock: {
    ...systemClock,
    // Unlike the functions' clock this one holds the process: a command that waits is not finished.
    after(delayMillis, callback) {
      const timer = setTimeout(callback, delayMillis);
      return () => {
        clearTimeout(timer);
      };
    },
  },
  signal: interrupted.signal,
});
