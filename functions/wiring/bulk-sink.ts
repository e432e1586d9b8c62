import { Batcher } from '../../shared/bulk/batcher.ts';
import { RejectionGuard } from '../../shared/bulk/rejection-guard.ts';
import { type BulkSink, writeMessage } from '../../shared/bulk/write-message.ts';
import { ClientPool } from '../../shared/google/bigtable/clients.ts';
import { createMutateRows } from '../../shared/google/bigtable/mutate-rows.ts';
import type { Handler } from '../entry-point.ts';
import { accessOf } from './access.ts';
import { entrySerializerOf } from './entry-serializer.ts';
import { failurePolicyOf } from './failure-policy.ts';
import { startInstance } from './instance.ts';
import { pushHandler } from './push-handler.ts';
import { type Environment, ownProcess, type Surroundings } from './surroundings.ts';
import { tableKeeperOf } from './table-keeper.ts';

/** Builds one instance of the bulk sink: configuration, clients, batcher, and the function that answers a push. */
export async function startBulkSink(env: Environment, surroundings: Surroundings = ownProcess): Promise<Handler> {
  const instance = await startInstance('bulk-sink', 'bulk sink', env, surroundings);
  const { pipeline, baseDirectory, clock, random, metrics, logger } = instance;

  const access = accessOf(pipeline.access, baseDirectory, env);
  const clients = new ClientPool({ ...access, ...pipeline.writer }, clock, metrics);
  const mutateRows = createMutateRows(clients, {
    appProfileId: pipeline.appProfileId ?? '',
    flowControl: pipeline.writer.flowControl,
  });
  const tables = tableKeeperOf(pipeline, access, { clock, random, metrics, logger });
  const batcher = new Batcher(pipeline.writer, {
    mutateRows,
    clock,
    random,
    metrics,
    logger,
    ...(tables && { tables }),
  });
  const policy = failurePolicyOf(pipeline.failure, instance);
  const sink: BulkSink = {
    batcher,
    policy,
    serializer: await entrySerializerOf(pipeline.serializer, baseDirectory),
    destination: pipeline.destination,
    framing: pipeline.framing,
    rejections: new RejectionGuard(
      {
        maxConsecutiveRejections: policy.mayDrop ? pipeline.writer.maxConsecutiveRejections : -1,
        cooldownMillis: pipeline.writer.rejectionCooldownMillis,
      },
      { clock, logger, metrics },
    ),
    perDestinationMetrics: pipeline.writer.perDestinationMetrics,
    clock,
    metrics,
    logger,
  };

  return pushHandler(instance, {
    process: (message, signal) => writeMessage(message, sink, signal),
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
