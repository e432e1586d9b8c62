import { TEST_FINGERPRINT } from '../../../support/fingerprint.ts';
import { randomBytes, randomUUID } from 'node:crypto';
import { systemClock } from '../../../../shared/base/clock.ts';
import { systemRandom } from '../../../../shared/base/random.ts';
import { createLogger } from '../../../../shared/base/logging.ts';
import { createMetrics } from '../../../../shared/base/metrics.ts';
import { openFirestore } from '../../../../shared/google/firestore/client.ts';
import { createDatabase } from '../../../../shared/google/firestore/database.ts';
import type { Envelope } from '../../../../shared/staged/envelope/envelope.ts';
import { PipelineWatch } from '../../../../shared/staged/stage/pipeline-watch.ts';
import { defaultLingerMillis, Stager } from '../../../../shared/staged/stage/stager.ts';
import { inRanges } from '../../bulk/data-plane/layers.ts';
import { endWith, programArgument } from '../../support/program.ts';
import { kibEnvelopes, PIPELINE } from '../envelopes.ts';
import type { StagingArgument, StagingResult, Way } from './ways.ts';

/** Stores envelopes in one of the ways: a warm-up, then the measured part. */
const { way, address, warmUpEnvelopes, envelopes } = programArgument() as StagingArgument;
process.env.FIRESTORE_EMULATOR_HOST = address;
/** The default. */
const CHECKPOINT_MILLIS = 10_000;
const DATABASE = { databaseId: '(default)', projectId: 'bench' };

/** Messages that an instance of a function takes at once, unless told otherwise (Cloud Run). */
const CONCURRENCY = 80;
/** The most that it can be told. */
const MAX_CONCURRENCY = 1000;
/** Creations in flight: more bring nothing. */
const DOCUMENTS_IN_FLIGHT = 32;

// What waits for company holds no process; in a function the open push does.
const push = setInterval(() => undefined, 60_000);
const all = kibEnvelopes(warmUpEnvelopes + envelopes);
const store = await open(way);
await store(0, warmUpEnvelopes);

const cpuBefore = process.cpuUsage();
const startedAt = performance.now();
await store(warmUpEnvelopes, all.length);
const millis = performance.now() - startedAt;
const { user, system } = process.cpuUsage(cpuBefore);
clearInterval(push);
endWith({
  envelopesPerSecond: (envelopes * 1000) / millis,
  cpuMicrosPerEnvelope: (user + system) / envelopes,
} satisfies StagingResult);

type Store = (from: number, to: number) => Promise<void>;

async function open(wanted: Way): Promise<Store> {
  switch (wanted) {
    case 'messages of 100':
      return stageMessages(100, CONCURRENCY);
    case 'messages of one':
      return stageMessages(1, MAX_CONCURRENCY);
    case 'a document each':
      return createDocuments();
  }
}

/** The stager over Firestore as the wiring of `stagedSink` makes it, used by concurrent invocations. */
function stageMessages(envelopesPerMessage: number, concurrency: number): Store {
  const runtime = { clock: systemClock, random: systemRandom, metrics: createMetrics(), logger: createLogger({}) };
  const store = createDatabase(DATABASE).stage(PIPELINE).staging;
  const numbers = new PipelineWatch(CHECKPOINT_MILLIS, { store, runtime, fingerprint: TEST_FINGERPRINT });
  const stager = new Stager(
    { lingerMillis: defaultLingerMillis(CHECKPOINT_MILLIS), maxWaitingMessages: concurrency / 2 },
    { store, runtime, numbers, newRandomId: () => randomBytes(8).toString('hex') },
  );
  const stage = (from: number, to: number): Promise<void> =>
    stager.stage(all.slice(from, to), new AbortController().signal);
  return (from, to) => inRanges(from, to, envelopesPerMessage, concurrency, stage);
}

/** What a function does that stores each of its records by itself: the same fields, random ids. */
async function createDocuments(): Promise<Store> {
  const { db } = await openFirestore(DATABASE);
  const documents = db.collection('pipelines').doc(PIPELINE).collection('envelopes');
  const create = async (index: number): Promise<void> => {
    const { request } = all[index] as Envelope;
    const detail = { envelopes: 1, bytes: request.length, parts: 0, stagedAt: Date.now() };
    await documents.doc(randomUUID()).create({ state: 'staged', detail, payload: request });
  };
  return (from, to) => inRanges(from, to, 1, DOCUMENTS_IN_FLIGHT, create);
}
