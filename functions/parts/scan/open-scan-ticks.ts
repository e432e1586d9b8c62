import type { ResolvedScanSource } from '../../../shared/config/resolved.ts';
import { createEmission } from '../../../shared/emission/emission.ts';
import { ClientPool } from '../../../shared/google/bigtable/clients.ts';
import { createSampleRowKeys } from '../../../shared/google/bigtable/sample-row-keys.ts';
import { createPublishCalls, pubSubAccess } from '../../../shared/google/pubsub/publish-calls.ts';
import { RunsWatch } from '../../../shared/scan/runs/runs-watch.ts';
import { accessOf } from '../instance.ts';
import type { OpenedTicks, Ticked } from '../ticks.ts';
import { scanTicks } from './scan-ticks.ts';

/** A table is asked where it would be cut when a run is planned, and not again. */
const CLIENTS = { maxActiveInstances: 1, destinationIdleTimeoutMillis: 600_000 };

/** The ticks of a scanned pipeline in `coordinate`: its runs, in Firestore; and the measure of them. */
export function openScanTicks(
  pipeline: ResolvedScanSource,
  { name, runtime, databases, env, baseDirectory }: Ticked,
): OpenedTicks {
  const clients = new ClientPool({ ...accessOf(pipeline.access, baseDirectory, env), ...CLIENTS }, runtime);
  const { endpoint } = pipeline.emission;
  const calls = createPublishCalls({
    ...pubSubAccess(env),
    ...(endpoint !== undefined && { publishEndpoint: endpoint }),
  });
  const closing = new AbortController();
  // The end of a run is told under no lease: it repeats without harm.
  const told = createEmission({
    send: calls.send,
    runtime,
    remainingMillis: () => Infinity,
    signal: closing.signal,
    maxOutstandingBytes: pipeline.slots.maxOutstandingBytes,
  });
  const dependencies = {
    ...{ name, pipeline, runtime },
    store: databases.of(pipeline.firestore).scan(name).coordinator,
    sampleRowKeys: createSampleRowKeys(clients, runtime),
    publisherOf: (topic: string) => told.publisher(topic),
    watch: new RunsWatch(pipeline.slots.parallelism, runtime.metrics),
  };
  return {
    ticks: (owner) => scanTicks(dependencies, owner),
    close() {
      closing.abort(new Error('this instance is shutting down'));
      told.close();
      calls.close();
      clients.close();
      return Promise.resolve();
    },
  };
}
