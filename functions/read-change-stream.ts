import { randomUUID } from 'node:crypto';
import { ClientPool } from '../shared/google/bigtable/clients.ts';
import { createReadChangeStream } from '../shared/google/bigtable/read-change-stream.ts';
import { createDatabase } from '../shared/google/firestore/database.ts';
import { createPublishCalls, pubSubAccess } from '../shared/google/pubsub/publish-calls.ts';
import { startedOnce } from './parts/entry-point.ts';
import { startInstance } from './parts/instance.ts';
import { readStreamSlot } from './parts/change-stream/stream-slot.ts';
import { serveSlot, type SlotHandler, slotHandler } from './parts/slots/slot-handler.ts';
import { type Environment, ownProcess, type Surroundings } from './parts/surroundings.ts';

/**
 * Cloud Scheduler, one job for each slot → some minutes of reading: partitions of the change stream are read, their changes
 * handed on in order, and how far they came is kept. Who may call is the platform's to decide: deploy it for internal traffic
 * alone.
 */
export const readChangeStream = startedOnce(() => startReadChangeStream(process.env), serveSlot);

/** A source reads one table. */
const CLIENTS = { maxActiveInstances: 1, destinationIdleTimeoutMillis: 3_600_000 };

/** Builds one instance of the source: configuration, clients, and the function that answers posts. */
export async function startReadChangeStream(
  env: Environment,
  surroundings: Surroundings = ownProcess,
): Promise<SlotHandler> {
  const instance = await startInstance('change-stream-source', 'change stream source', env, surroundings);
  const { pipeline, name, access, runtime } = instance;
  const { firestore, emission } = pipeline;
  const database = createDatabase({
    databaseId: firestore.database,
    ...(firestore.project !== undefined && { projectId: firestore.project }),
  });
  const clients = new ClientPool({ ...access, ...CLIENTS }, runtime);
  const calls = createPublishCalls({
    ...pubSubAccess(env),
    ...(emission.endpoint !== undefined && { publishEndpoint: emission.endpoint }),
  });
  const shared = {
    store: database.changeStream(name).slots,
    readChangeStream: createReadChangeStream(clients),
    send: calls.send,
  };
  return slotHandler(instance, {
    async readSlot(slot, ending) {
      try {
        return await readStreamSlot(slot, randomUUID(), instance, shared, ending);
      } finally {
        clients.sweep();
      }
    },
    command: () => Promise.resolve(undefined),
    async close() {
      clients.close();
      calls.close();
      await database.close();
    },
  });
}
