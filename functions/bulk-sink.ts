import { lazy } from '../shared/base/lazy.ts';
import { Batcher } from '../shared/bulk/batcher.ts';
import { RejectionGuard } from '../shared/bulk/rejection-guard.ts';
import { FamilyTypes } from '../shared/bulk/repair/family-types.ts';
import { TableKeeper } from '../shared/bulk/repair/table-keeper.ts';
import { type BulkSink, writeMessage } from '../shared/bulk/write-message.ts';
import { MAX_REMEMBERED, MessageMemory } from '../shared/letters/message-memory.ts';
import type { TableAdmin } from '../shared/bulk/ports.ts';
import type { ResolvedBulkSink, ResolvedTableCreateOptions } from '../shared/config/resolved.ts';
import { ClientPool } from '../shared/google/bigtable/clients.ts';
import { createMutateRows } from '../shared/google/bigtable/mutate-rows.ts';
import { declaredFamilies } from '../shared/mapping/declared/declared-families.ts';
import type { ResolvedMapping } from '../shared/mapping/declared/resolved.ts';
import { entryPoint, type Handler } from './parts/entry-point.ts';
import { entrySerializerOf } from './parts/entry-serializer.ts';
import { failurePolicyOf } from './parts/failure-policies.ts';
import { type Instance, startInstance } from './parts/instance.ts';
import { letterRightsOf, openLettersOf } from './parts/letters.ts';
import { pushHandler } from './parts/push-handler.ts';
import { type Environment, ownProcess, type Surroundings } from './parts/surroundings.ts';

/**
 * Pub/Sub push → row mutations, at least once. 204 acknowledges: every record of the message is applied, skipped, or
 * durably handed to the failure policy. Anything else asks Pub/Sub to deliver the message again.
 */
export const bulkSink = entryPoint(() => startBulkSink(process.env));

/** Builds one instance of the bulk sink: configuration, clients, batcher, and the function that answers a push. */
export async function startBulkSink(env: Environment, surroundings: Surroundings = ownProcess): Promise<Handler> {
  const instance = await startInstance('bulk-sink', 'bulk sink', env, surroundings);
  const { pipeline, name, baseDirectory, access, runtime } = instance;
  const clients = new ClientPool({ ...access, ...pipeline.writer }, runtime);
  const mutateRows = createMutateRows(clients, {
    appProfileId: pipeline.appProfileId ?? '',
    flowControl: pipeline.writer.flowControl,
  });
  const tables = tablesOf(instance);
  const batcher = new Batcher(pipeline.writer, { mutateRows, runtime, ...tables });
  const policy = failurePolicyOf(pipeline.failure, instance);
  const serializer = await entrySerializerOf(pipeline.serializer, baseDirectory);
  const sink: BulkSink = {
    batcher,
    policy,
    ...(tables.types && { types: tables.types }),
    serializer,
    letters: letterRightsOf(pipeline, serializer),
    destination: pipeline.destination,
    framing: pipeline.input.framing,
    memory: new MessageMemory(MAX_REMEMBERED),
    rejections: new RejectionGuard(
      {
        maxConsecutiveRejections: policy.mayDrop ? pipeline.writer.maxConsecutiveRejections : -1,
        cooldownMillis: pipeline.writer.rejectionCooldownMillis,
      },
      runtime,
    ),
    perDestinationMetrics: pipeline.writer.perDestinationMetrics,
    runtime,
  };

  return pushHandler(instance, {
    process: (message, signal) => writeMessage(message, sink, signal),
    openLetter: openLettersOf(name, pipeline),
    onDrain: () => {
      batcher.drain();
    },
    sweep: () => {
      clients.sweep();
    },
    async close() {
      await policy.close();
      clients.close();
    },
  });
}

interface Tables {
  /** Keeps the tables of a create-if-needed pipeline; absent under create-never. */
  readonly tables?: TableKeeper;
  /** Absent where neither a mapping nor `tableCreateOptions` declares families. */
  readonly types?: FamilyTypes;
}

/** What the pipeline does about its tables. The admin adapter is loaded at its first use. */
function tablesOf({ pipeline, access, runtime }: Instance<ResolvedBulkSink>): Tables {
  const { tableCreateOptions, writer, serializer } = pipeline;
  const declared = tableCreateOptions ?? ('mapping' in serializer ? familiesOf(serializer.mapping) : undefined);
  if (!declared) return {};
  const opened = lazy(async () => {
    const [{ connectedTableAdmin }, { openTableCalls }] = await Promise.all([
      import('../shared/bulk/repair/ensure-table.ts'),
      import('../shared/google/bigtable/table-admin.ts'),
    ]);
    return connectedTableAdmin(openTableCalls(access));
  });
  const admin: TableAdmin = {
    ensure: async (...call) => (await opened()).ensure(...call),
    checkTypes: async (...call) => (await opened()).checkTypes(...call),
  };
  return {
    types: new FamilyTypes(declared, writer, { runtime, admin }),
    ...(tableCreateOptions && { tables: new TableKeeper({ tableCreateOptions, ...writer }, { runtime, admin }) }),
  };
}

const familiesOf = (mapping: ResolvedMapping): ResolvedTableCreateOptions => ({
  families: Object.fromEntries(
    Object.entries(declaredFamilies(mapping)).map(([name, type]) => [name, { type }] as const),
  ),
});
