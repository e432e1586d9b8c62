import { startFunctionHost, type FunctionHost, type FunctionHostOptions } from './function-host.ts';

/**
 * The program of a process that serves all functions: one argument, the options as JSON. SIGTERM drains it. The
 * handler is there before the functions are loaded, so that what they register comes after it.
 */
const starting = Promise.withResolvers<FunctionHost>();
process.once('SIGTERM', () => {
  starting.promise
    .then((host) => host.drain())
    .finally(() => process.exit())
    .catch(() => undefined);
});
starting.resolve(await startFunctionHost(JSON.parse(process.argv[2] ?? '') as FunctionHostOptions));
