import { randomUUID } from 'node:crypto';
import { lazy } from '../shared/base/lazy.ts';
import { ClientPool } from '../shared/google/bigtable/clients.ts';
import { createReadRows } from '../shared/google/bigtable/read-rows.ts';
import { createSampleRowKeys } from '../shared/google/bigtable/sample-row-keys.ts';
import { createDatabase } from '../shared/google/firestore/database.ts';
import { createPublishCalls, type PublishCalls, pubSubAccess } from '../shared/google/pubsub/publish-calls.ts';
import { RUN_ID, startRun } from '../shared/scan/runs/start-run.ts';
import { type FunctionRequest, startedOnce } from './parts/entry-point.ts';
import { startInstance } from './parts/instance.ts';
import { freezeRun } from './parts/scan/freeze-run.ts';
import { readScanSlot } from './parts/scan/scan-slot.ts';
import { type SlotAnswer, type SlotHandler, slotHandler, serveSlot } from './parts/slots/slot-handler.ts';
import { type Environment, ownProcess, type Surroundings } from './parts/surroundings.ts';

/**
 * Cloud Scheduler, one job for each slot → some minutes of reading: splits of runs are read, their rows handed on, and how
 * far they came is kept. `{"start": {}}` starts a run. Who may call is the platform's to decide: deploy it for internal
 * traffic alone.
 */
export const readScan = startedOnce(() => startReadScan(process.env), serveSlot);

/** A scan reads one table, and no more clients than runs of other deployments of it. */
const CLIENTS = { maxActiveInstances: 4, destinationIdleTimeoutMillis: 3_600_000 };

/** Builds one instance of the scan source: configuration, clients, and the function that answers posts. */
export async function startReadScan(env: Environment, surroundings: Surroundings = ownProcess): Promise<SlotHandler> {
  const instance = await startInstance('scan-source', 'scan source', env, surroundings);
  const { pipeline, name, access, runtime } = instance;
  const { firestore } = pipeline;
  const database = createDatabase({
    databaseId: firestore.database,
    ...(firestore.project !== undefined && { projectId: firestore.project }),
  });
  const views = database.scan(name);
  const clients = new ClientPool({ ...access, ...CLIENTS }, runtime);
  const publishing = new Map<string | undefined, PublishCalls>();
  const openAdmin = lazy(async () => {
    const { openTargetAdmin } = await import('../shared/google/bigtable/target-admin.ts');
    return openTargetAdmin(access);
  });
  const shared = {
    views,
    readRows: createReadRows(clients),
    sampleRowKeys: createSampleRowKeys(clients, runtime),
    sendBy(endpoint: string | undefined) {
      let calls = publishing.get(endpoint);
      if (!calls) {
        calls = createPublishCalls({
          ...pubSubAccess(env),
          ...(endpoint !== undefined && { publishEndpoint: endpoint }),
        });
        publishing.set(endpoint, calls);
      }
      return calls.send;
    },
    openAdmin,
  };
  return slotHandler(instance, {
    async readSlot(slot, ending) {
      try {
        return await readScanSlot(slot, randomUUID(), instance, shared, ending);
      } finally {
        clients.sweep();
      }
    },
    command: (body, request, signal) => start(body, request, signal),
    async close() {
      clients.close();
      for (const calls of publishing.values()) calls.close();
      await database.close();
    },
  });

  /** `{"start": {"run": id}}`; without an id it is the time of the schedule, so that a start that is sent twice is one run. */
  async function start(body: object, request: FunctionRequest, signal: AbortSignal): Promise<SlotAnswer | undefined> {
    if (!('start' in body) || typeof body.start !== 'object' || body.start === null) return undefined;
    const given = 'run' in body.start ? body.start.run : undefined;
    if (given !== undefined && (typeof given !== 'string' || !RUN_ID.test(given))) {
      return { status: 400, json: { error: `start.run: must match ${RUN_ID.source}` } };
    }
    const scheduled = request.headers['x-cloudscheduler-scheduletime'];
    const time = typeof scheduled === 'string' && RUN_ID.test(scheduled) ? scheduled : undefined;
    const id = given ?? time ?? new Date(runtime.clock.now()).toISOString();
    const outcome = await startRun(
      { id, options: (lastDone) => freezeRun(pipeline, lastDone), concurrentRuns: pipeline.runs.concurrentRuns },
      { store: views.runs, clock: runtime.clock },
      signal,
    );
    switch (outcome.kind) {
      case 'started':
        runtime.logger.log('INFO', 'a run was started', { run: id });
        return { status: 202, json: { run: id, state: outcome.run.state } };
      case 'known':
        return { status: 202, json: { run: id, state: outcome.run.state } };
      case 'refused':
        return {
          status: 409,
          json: { error: `the run ${outcome.by.id} is under way; concurrentRuns: allow lets others start beside it` },
        };
      default:
        return outcome satisfies never;
    }
  }
}
