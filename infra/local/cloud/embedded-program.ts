import { startEmbeddedHere, type EmbeddedOptions, type EmbeddedReady } from './embedded.ts';

/** The program of the process that holds the embedded servers: one argument, the options as JSON. */
const servers = await startEmbeddedHere(JSON.parse(process.argv[2] ?? '{"services":[]}') as EmbeddedOptions);

const close = (): void => {
  // Nothing is left to report to: what does not close in time is ended by whoever asked.
  servers
    .close()
    .finally(() => process.exit())
    .catch(() => undefined);
};
process.once('SIGTERM', close);
process.send?.({ addresses: servers.addresses } satisfies EmbeddedReady);
