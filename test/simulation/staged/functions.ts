import { RedeliverError } from '../../../shared/base/errors.ts';
import type { Random } from '../../../shared/base/random.ts';
import { failPolicy } from '../../../shared/letters/policy.ts';
import { entrySerializer } from '../../../shared/mapping/entry-serializer.ts';
import type { PushedMessage } from '../../../shared/model/record.ts';
import { tableName } from '../../../shared/model/table-name.ts';
import { Backpressure } from '../../../shared/staged/stage/backpressure.ts';
import { weightOf } from '../../../shared/staged/stage/backlog-view.ts';
import { ClusterGuard } from '../../../shared/staged/commit/cluster-guard.ts';
import { CompletedNumber } from '../../../shared/staged/commit/completed-number.ts';
import { drainWork } from '../../../shared/staged/commit/drain-work.ts';
import { MarkedWrites } from '../../../shared/staged/write/marked-writes.ts';
import { fingerprintOf, type OwnFingerprint } from '../../../shared/staged/fingerprint.ts';
import type { CommittingStore, StagingStore } from '../../../shared/staged/ports.ts';
import type { CommitWork } from '../../../shared/staged/work-message.ts';
import { stageMessage } from '../../../shared/staged/stage/stage-message.ts';
import { PipelineWatch } from '../../../shared/staged/stage/pipeline-watch.ts';
import { defaultLingerMillis, Stager } from '../../../shared/staged/stage/stager.ts';
import type { ProfileReading } from '../../../shared/markers/target.ts';
import { TargetCheck } from '../../../shared/markers/target-check.ts';
import type { ReadMarkers } from '../../../shared/markers/ports.ts';
import type { SendRowCall } from '../../../shared/model/row-call.ts';
import { FakeTargetAdmin } from '../../support/fake-target-admin.ts';
import { WRITES_OPTIONS } from '../../support/marked-writes-harness.ts';
import { ANY_LETTER } from '../../support/returned-letter.ts';
import { type Instance, remote } from '../support/pool.ts';
import type { SimulatedProcess } from '../support/process.ts';
import { testRuntime } from '../../support/runtime.ts';

/** The functions as their wiring builds them, for one simulated process. */

export const PIPELINE = 'counters';
export const CHECKPOINT_MILLIS = 10_000;
export const TABLE = tableName('p', 'i', 't');

const randomDigits = (random: Random): string =>
  Array.from({ length: 16 }, () => Math.floor(random() * 16).toString(16)).join('');

/** Resolves when the message may be acknowledged. */
export type Handle<Message> = (message: Message, signal: AbortSignal) => Promise<void>;

/** What a revision of the functions makes identities of. */
export interface Identities {
  readonly markerFamily: string;
  readonly idAttribute?: string;
}

export const IDENTITIES: Identities = { markerFamily: 'markers', idAttribute: 'id' };

/** By other values every message would be another effect, or have a marker in another place. */
export const OTHER_IDENTITIES: readonly [Identities, Identities] = [
  { markerFamily: 'markers' },
  { markerFamily: 'markers2', idAttribute: 'id' },
];

export const fingerprintFor = (identities: Identities): OwnFingerprint => ({
  own: fingerprintOf({ ...identities, framing: 'single', subscription: 'records' }),
});

export function startStager(
  process: SimulatedProcess,
  store: StagingStore,
  maxStagedEntries: number,
  random: Random,
  identities: Identities = IDENTITIES,
): Handle<PushedMessage> {
  const runtime = testRuntime({ clock: process.clock, random });
  const reached = remote(process, store);
  const watch = new PipelineWatch(CHECKPOINT_MILLIS, {
    store: reached,
    runtime,
    fingerprint: fingerprintFor(identities),
  });
  const stager = new Stager(
    { lingerMillis: defaultLingerMillis(CHECKPOINT_MILLIS), maxWaitingMessages: 3 },
    { store: reached, numbers: watch, runtime, newRandomId: () => randomDigits(random) },
  );
  const backpressure = new Backpressure({ maxStagedEntries, maxStagedBytes: 1e9 }, { store: reached, watch, runtime });
  return (message, signal) =>
    stageMessage(
      message,
      {
        serializer: entrySerializer,
        destination: { table: TABLE },
        framing: 'single',
        letters: ANY_LETTER,
        envelopes: {
          pipeline: PIPELINE,
          subscription: 'records',
          framing: 'single',
          ...identities,
          appProfileId: '',
        },
        admit: () => {
          backpressure.admit();
        },
        keep: (received, until) => {
          const envelopes = received.map(({ envelope }) => envelope);
          return backpressure.during(weightOf(envelopes), () => stager.stage(envelopes, until));
        },
        policy: failPolicy(),
        perDestinationMetrics: false,
        runtime,
      },
      signal,
    );
}

/** The table of one profile, in the cluster that it routes to at the time. */
interface BehindProfile {
  readonly send: SendRowCall;
  readonly readMarkers: ReadMarkers;
  readonly profile: () => ProfileReading;
}

export function startCommitter(
  process: SimulatedProcess,
  store: CommittingStore,
  table: BehindProfile,
  random: Random,
  confirmed?: string,
): Handle<CommitWork> {
  const runtime = testRuntime({ clock: process.clock, random });
  const reached = remote(process, store);
  const admin = new FakeTargetAdmin();
  admin.readProfile = () => Promise.resolve(table.profile());
  const committer = {
    store: reached,
    completed: new CompletedNumber(reached, runtime.logger),
    writes: new MarkedWrites(
      { ...WRITES_OPTIONS, maxInFlightRequests: 3, requestTimeoutMillis: 5000 },
      { ...remote(process, { send: table.send, readMarkers: table.readMarkers }), runtime },
    ),
    targets: new ClusterGuard({
      targets: new TargetCheck({ declaredFamilies: {}, idleMillis: 3_600_000 }, { admin, runtime }),
      store: reached,
      confirmed,
    }),
    onRejected: failPolicy(),
    runtime,
  };
  return (work, signal) => drainWork(work, committer, signal);
}

/**
 * One delivery to one instance, as the push handler answers it: true acknowledges. Never settles where the instance
 * dies; `onUnexpected` hears of what is no reason to redeliver.
 */
export async function deliver<Message>(
  message: Message,
  instance: Instance<Handle<Message>> | undefined,
  invocationMillis: number,
  onUnexpected: (error: unknown) => void,
): Promise<boolean> {
  if (!instance) return false;
  const { process, body: handle } = instance;
  const deadline = new AbortController();
  const cancel = process.clock.after(invocationMillis, () => {
    deadline.abort(new Error('the time of the invocation is used up'));
  });
  try {
    await process.call(() => undefined);
    await handle(message, deadline.signal);
    return true;
  } catch (error) {
    if (!(error instanceof RedeliverError) || error.reason === 'unexpected') onUnexpected(error);
    return false;
  } finally {
    cancel();
  }
}
