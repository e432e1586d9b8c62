import { expect, test } from 'vitest';
import { PUSH_BACKOFF_BOUNDS } from '../../infra/local/servers/pubsub/delivery/backoff.ts';
import { PushPace } from '../../infra/local/servers/pubsub/push/push-pace.ts';
import type { Clock } from '../../shared/base/clock.ts';
import { failPolicy } from '../../shared/letters/policy.ts';
import type { SendRowCall } from '../../shared/model/row-call.ts';
import type { Committer } from '../../shared/staged/commit/committer.ts';
import { CompletedNumber } from '../../shared/staged/commit/completed-number.ts';
import { drainWork } from '../../shared/staged/commit/drain-work.ts';
import { encodeSegment } from '../../shared/staged/envelope/segment.ts';
import { LANES, segmentId } from '../../shared/staged/segment-id.ts';
import type { CommitWork } from '../../shared/staged/work-message.ts';
import { MarkedWrites } from '../../shared/staged/write/marked-writes.ts';
import { envelopeOf, rowEntry } from '../support/envelopes.ts';
import { conditionalReply } from '../support/fake-row-calls.ts';
import { WRITES_OPTIONS } from '../support/marked-writes-harness.ts';
import { testRuntime } from '../support/runtime.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { TickWorld } from '../support/tick-world.ts';

const SEGMENTS = 100;
/** What is in 850 KiB of 1 KiB each. */
const ENVELOPES = 800;
const INSTANCES = 20;
const CONCURRENCY = 8;
const BIGTABLE_MILLIS = 5;
/** CPU of a committer for a write: the benchmark's `distinct-rows`. */
const CPU_MILLIS = 0.117;
/** The embedded Pub/Sub's, as the service documents them. */
const WINDOW = { start: 4, cap: 64 };
/** Segments of a work message of the first generation. */
const FORMER_SEGMENTS = 8;

const never = new AbortController().signal;
const random = seededRandom(20261130);

test('a hundred full segments of rows of their own are drained one and a half times as fast as by work of eight segments each', async () => {
  const ranges = await drained((work) => work);
  const eights = await drained((work, ids) => {
    const one = work[0];
    if (!one) throw new Error('no work was sent');
    return Array.from({ length: Math.ceil(ids.length / FORMER_SEGMENTS) }, (_, at) => ({
      ...one,
      ranges: [],
      segments: ids.slice(at * FORMER_SEGMENTS, (at + 1) * FORMER_SEGMENTS),
    }));
  });
  console.log(JSON.stringify({ ranges, eights, ratio: eights.millis / ranges.millis }));
  expect(eights.millis / ranges.millis).toBeGreaterThanOrEqual(1.5);
}, 300_000);

/** Virtual milliseconds from the tick that completes the checkpoint to the last deletion. */
async function drained(
  sent: (work: readonly CommitWork[], ids: readonly string[]) => readonly CommitWork[],
): Promise<{ readonly messages: number; readonly millis: number }> {
  const world = new TickWorld();
  const { clock, store } = world;
  const ids = Array.from({ length: SEGMENTS }, (_, place) => segmentId(place % LANES, 1, digits()));
  for (const [place, id] of ids.entries()) {
    const envelopes = Array.from({ length: ENVELOPES }, (_, at) => {
      const number = place * ENVELOPES + at;
      return envelopeOf(number, rowEntry(`row-${number}`));
    });
    const payload = encodeSegment(envelopes);
    await store.staging.stage([{ id, envelopes: ENVELOPES, payload, stagedAt: clock.now() }], never);
  }
  await clock.advance(10_000);
  await world.coordinator().tick(never);
  const queue = [...sent(world.topic.messages.splice(0), ids)];
  const messages = queue.length;
  const startedAt = clock.now();
  const pushes = pushAll(queue, clock, store.committing);
  while (store.segments.length > 0) await clock.advance(10);
  const millis = clock.now() - startedAt;
  await pushes;
  return { messages, millis };
}

/** The push window of one subscription before the instances of a function. */
async function pushAll(queue: CommitWork[], clock: Clock, store: Committer['store']): Promise<void> {
  const pace = new PushPace(WINDOW, PUSH_BACKOFF_BOUNDS);
  const instances = Array.from({ length: INSTANCES }, () => ({ busy: 0, committer: committer(clock, store) }));
  await new Promise<void>((resolve, reject) => {
    const pump = (): void => {
      if (queue.length === 0 && pace.outstanding === 0) resolve();
      while (queue.length > 0 && pace.mayStart(clock.now())) {
        const instance = instances.toSorted((left, right) => left.busy - right.busy)[0];
        if (!instance || instance.busy >= CONCURRENCY) return;
        const work = queue.shift();
        if (!work) return;
        pace.start();
        instance.busy += 1;
        const startedAt = clock.now();
        drainWork(work, instance.committer, never).then(() => {
          instance.busy -= 1;
          pace.acknowledged(clock.now() - startedAt);
          pump();
        }, reject);
      }
    };
    pump();
  });
}

function committer(clock: Clock, store: Committer['store']): Committer {
  const runtime = testRuntime({ clock, random });
  let cpuFreeAt = 0;
  const applied = conditionalReply(false);
  const send: SendRowCall = () => {
    cpuFreeAt = Math.max(clock.now(), cpuFreeAt) + CPU_MILLIS;
    return new Promise((resolve) => {
      clock.after(cpuFreeAt - clock.now() + BIGTABLE_MILLIS, () => {
        resolve(applied);
      });
    });
  };
  const readMarkers = (): never => {
    throw new Error('nothing is applied before');
  };
  return {
    store,
    completed: new CompletedNumber(store, runtime.logger),
    writes: new MarkedWrites(WRITES_OPTIONS, { send, readMarkers, runtime }),
    targets: { check: () => Promise.resolve(undefined), forget: () => undefined },
    onRejected: failPolicy(),
    runtime,
  };
}

const digits = (): string => Array.from({ length: 16 }, () => Math.floor(random() * 16).toString(16)).join('');
