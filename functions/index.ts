import { http } from '@google-cloud/functions-framework';
import type { EntryPointName } from '../shared/deployment/entry-points.ts';
import { ownBodies } from './bodies/own-bodies.ts';
import { type EntryPoint, withoutDomains } from './parts/entry-point.ts';

/** How each entry point of the deployment's table is loaded. Only the deployed one is: a cold start pays for every module. */
const LOADERS: Readonly<Record<EntryPointName, () => Promise<EntryPoint>>> = {
  bulkSink: async () => (await import('./bulk-sink.ts')).bulkSink,
  stagedSink: async () => (await import('./staged-sink.ts')).stagedSink,
  commitStaged: async () => (await import('./commit-staged.ts')).commitStaged,
  coordinate: async () => (await import('./coordinate.ts')).coordinate,
  readChangeStream: async () => (await import('./read-change-stream.ts')).readChangeStream,
  readScan: async () => (await import('./read-scan.ts')).readScan,
  rowRequest: async () => (await import('./row-request.ts')).rowRequest,
  requestSink: async () => (await import('./request-sink.ts')).requestSink,
};

withoutDomains();
await ownBodies();

for (const [name, load] of Object.entries(LOADERS)) {
  let loaded: EntryPoint | undefined;
  const handleOnceLoaded = async (...call: Parameters<EntryPoint['handle']>): Promise<void> => {
    loaded ??= await load();
    loaded.handle(...call);
  };
  http(name, (request, response) => {
    if (!loaded) return handleOnceLoaded(request, response);
    loaded.handle(request, response);
    return undefined;
  });
}

// A deployed function starts with its process, so that a configuration that cannot be right is refused before the
// first request. A host of several functions names no target: there each starts at its first request.
const target = process.env.FUNCTION_TARGET ?? '';
const load = Object.hasOwn(LOADERS, target) ? LOADERS[target as EntryPointName] : undefined;
if (load) await (await load()).startOrExit();
