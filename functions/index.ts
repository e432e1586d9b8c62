import { http } from '@google-cloud/functions-framework';
import type { EntryPoint } from './parts/entry-point.ts';
import { leaveFrameworkDomain } from './parts/framework-domain.ts';

/** Every entry point, by the name to deploy it under. Only the deployed one is loaded: cold start is paid for by module. */
const ENTRY_POINTS: Readonly<Record<string, () => Promise<EntryPoint>>> = {
  bulkSink: async () => (await import('./bulk-sink.ts')).bulkSink,
  stagedSink: async () => (await import('./staged-sink.ts')).stagedSink,
  commitStaged: async () => (await import('./commit-staged.ts')).commitStaged,
  coordinate: async () => (await import('./coordinate.ts')).coordinate,
  rowRequest: async () => (await import('./row-request.ts')).rowRequest,
  requestSink: async () => (await import('./request-sink.ts')).requestSink,
};

for (const [name, load] of Object.entries(ENTRY_POINTS)) {
  let loaded: EntryPoint | undefined;
  http(name, async (request, response) => {
    leaveFrameworkDomain();
    loaded ??= await load();
    await loaded.handle(request, response);
  });
}

// A deployed function starts with its process, so that a configuration that cannot be right is refused before the
// first request. A host of several functions names no target: there each starts at its first request.
const target = process.env.FUNCTION_TARGET;
const load = target === undefined ? undefined : ENTRY_POINTS[target];
if (load) await (await load()).startOrExit();
