import { TEST_FINGERPRINT } from '../../../support/fingerprint.ts';
import { randomBytes, randomUUID } from 'node:crypto';
import { startBigtableServer } from '../../../../infra/local/servers/bigtable/server.ts';
import { startFirestoreServer } from '../../../../infra/local/servers/firestore/server.ts';
import { systemClock } from '../../../../shared/base/clock.ts';
import { systemRandom } from '../../../../shared/base/random.ts';
import { createLogger } from '../../../../shared/base/logging.ts';
import { failPolicy } from '../../../../shared/letters/policy.ts';
import { openTargetAdmin } from '../../../../shared/google/bigtable/target-admin.ts';
import { createDatabase } from '../../../../shared/google/firestore/database.ts';
import { CompletedNumber } from '../../../../shared/staged/commit/completed-number.ts';
import type { Committer } from '../../../../shared/staged/commit/committer.ts';
import { drainWork } from '../../../../shared/staged/commit/drain-work.ts';
import { PipelineWatch } from '../../../../shared/staged/stage/pipeline-watch.ts';
import type { CommitWork } from '../../../../shared/staged/work-message.ts';
import { workTopic } from '../../../support/work-topic.ts';
import { Stager } from '../../../../shared/staged/stage/stager.ts';
import { TargetCheck } from '../../../../shared/markers/target-check.ts';
import { createTicks } from '../../../../shared/coordinator/tick.ts';
import { checkpointDecider } from '../../../../shared/staged/checkpoint/checkpoint-decider.ts';
import { endWith, programArgument } from '../../support/program.ts';
import { makeTable } from '../embedded.ts';
import { kibEnvelopes, PIPELINE } from '../envelopes.ts';
import { openWrites } from '../marked-writes.ts';
import type { BilledArgument, BilledResult } from './case.ts';

/** One checkpoint from its first envelope to its end, and then ticks with nothing to do; the server counts. */
const { envelopes } = programArgument() as BilledArgument;
const IDLE_TICKS = 10;
const INTERVAL_MILLIS = 1000;

const firestore = await startFirestoreServer();
process.env.FIRESTORE_EMULATOR_HOST = firestore.address;
const bigtable = await startBigtableServer();
await makeTable(bigtable.address);
const opened = openWrites(bigtable.address);
const { writes, metrics } = opened;
const logger = createLogger({});
const runtime = { clock: systemClock, random: systemRandom, metrics, logger };
const database = createDatabase({ databaseId: '(default)', projectId: 'bench' });
const { staging, coordinator, committing } = database.stage(PIPELINE);
const forEver = new AbortController().signal;

const numbers = new PipelineWatch(INTERVAL_MILLIS, { store: staging, runtime, fingerprint: TEST_FINGERPRINT });
const stager = new Stager(
  { lingerMillis: 0, maxWaitingMessages: 40 },
  { runtime, store: staging, numbers, newRandomId: () => randomBytes(8).toString('hex') },
);
await stager.stage(kibEnvelopes(envelopes), forEver);

const sent: CommitWork[] = [];
const topic = workTopic((work) => sent.push(work));
const staged = {
  checkpointIntervalMillis: INTERVAL_MILLIS,
  maxStagedEntries: envelopes,
  maxStagedBytes: envelopes * 2048,
  patienceMillis: 600_000,
  fingerprint: TEST_FINGERPRINT,
};
const decider = checkpointDecider(PIPELINE, staged, { store: coordinator, topic, runtime });
const ticks = createTicks(decider, { store: coordinator, clock: systemClock, owner: randomUUID() });
await ticks.tick(forEver);

const admin = openTargetAdmin({ emulatorEndpoint: bigtable.address });
const committer: Committer = {
  runtime,
  writes,
  targets: new TargetCheck({ declaredFamilies: {}, idleMillis: 3_600_000 }, { admin, runtime }),
  store: committing,
  onRejected: failPolicy(),
  completed: new CompletedNumber(committing, logger),
};
for (const work of sent) await drainWork(work, committer, forEver);
await ticks.tick(forEver);
const whole = total();
const { recordsApplied = 0, segmentsStaged = 0, segmentsCommitted = 0 } = metrics.snapshot().counters;
if (recordsApplied !== envelopes || segmentsCommitted !== segmentsStaged) {
  throw new Error(`${recordsApplied} of ${envelopes} envelopes were applied`);
}

for (let tick = 0; tick < IDLE_TICKS; tick += 1) await ticks.tick(forEver);
const idle = total() - whole;
opened.close();
endWith({
  operations: whole,
  segments: segmentsStaged,
  operationsPerIdleTick: idle / IDLE_TICKS,
} satisfies BilledResult);

function total(): number {
  const { reads, writes: written, deletes } = firestore.billed();
  return reads + written + deletes;
}
