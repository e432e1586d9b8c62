import { changeStreamDecider } from '../../../shared/change-stream/coordination/change-stream-decider.ts';
import { SourceWatch } from '../../../shared/change-stream/coordination/source-watch.ts';
import type { LookAtTable } from '../../../shared/change-stream/ports.ts';
import { preflight } from '../../../shared/change-stream/preflight.ts';
import type { ChangeStreamAdmin } from '../../../shared/change-stream/reading/ports.ts';
import type { ResolvedChangeStreamSource } from '../../../shared/config/resolved.ts';
import { createTicks } from '../../../shared/coordinator/tick.ts';
import { openChangeStreamAdmin } from '../../../shared/google/bigtable/change-stream-admin.ts';
import { createListPartitions } from '../../../shared/google/bigtable/change-stream-partitions.ts';
import { ClientPool } from '../../../shared/google/bigtable/clients.ts';
import { accessOf } from '../instance.ts';
import type { OpenedTicks, Ticked } from '../ticks.ts';
import { freezeOptions } from './frozen-options.ts';
import { startPositionOf } from './positions.ts';

/** The service is asked for its partitions every ten seconds. */
const CLIENTS = { maxActiveInstances: 1, destinationIdleTimeoutMillis: 600_000 };

/** The ticks of a source of changes in `coordinate`: it is started, repaired, ended and measured there. */
export function openStreamTicks(
  pipeline: ResolvedChangeStreamSource,
  { name, runtime, databases, env, baseDirectory }: Ticked,
): OpenedTicks {
  const access = accessOf(pipeline.access, baseDirectory, env);
  const clients = new ClientPool({ ...access, ...CLIENTS }, runtime);
  const { table, appProfileId, stream } = pipeline;
  const listPartitions = createListPartitions(clients, runtime);
  const store = databases.of(pipeline.firestore).changeStream(name).coordinator;
  const dependencies = {
    ...{ store, runtime },
    asked: {
      options: freezeOptions(pipeline),
      ...(stream.endNanos !== undefined && { endTime: BigInt(stream.endNanos) }),
    },
    start: startPositionOf(stream.start),
    lookAtTable: lookAtTable(pipeline, openChangeStreamAdmin(access)),
    listPartitions: (signal: AbortSignal) => listPartitions(table, appProfileId, signal),
    watch: new SourceWatch(runtime.metrics),
  };
  return {
    ticks: (owner) => createTicks(changeStreamDecider(name, dependencies), { store, clock: runtime.clock, owner }),
    close() {
      clients.close();
      return Promise.resolve();
    },
  };
}

/** Without a preflight nothing is said of what the table is like; how long it keeps its changes is asked all the same. */
function lookAtTable(
  { table, appProfileId, stream }: ResolvedChangeStreamSource,
  admin: ChangeStreamAdmin,
): LookAtTable {
  const policy = stream.preflight;
  return async (signal) => {
    const look = await preflight(admin, { table, appProfileId }, policy === 'strict' ? 'strict' : 'warn', signal);
    return policy === 'off' ? { ...look, warnings: [] } : look;
  };
}
