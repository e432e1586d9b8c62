import { TEST_FINGERPRINT } from '../support/fingerprint.ts';
import { expect, test } from 'vitest';
import type { Clock } from '../../shared/base/clock.ts';
import { createTicks } from '../../shared/coordinator/tick.ts';
import { runTicks } from '../../shared/coordinator/tick-loop.ts';
import { failPolicy } from '../../shared/letters/policy.ts';
import { checkpointDecider } from '../../shared/staged/checkpoint/checkpoint-decider.ts';
import type { Committer } from '../../shared/staged/commit/committer.ts';
import { CompletedNumber } from '../../shared/staged/commit/completed-number.ts';
import { drainWork } from '../../shared/staged/commit/drain-work.ts';
import { isInRange } from '../../shared/staged/segment-id.ts';
import { PipelineWatch } from '../../shared/staged/stage/pipeline-watch.ts';
import { defaultLingerMillis, Stager } from '../../shared/staged/stage/stager.ts';
import type { CommitWork } from '../../shared/staged/work-message.ts';
import { cell, envelopeOf, rowEntry } from '../support/envelopes.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryStageStore } from '../support/memory-stage-store.ts';
import { testRuntime } from '../support/runtime.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { workTopic } from '../support/work-topic.ts';
import { quantileOf, sortedNumbers } from '../../shared/base/quantile.ts';

/** Virtual minutes of the load; the figures of the benchmark page are of ten. */
const MINUTES = Number(process.env.LOAD_MINUTES ?? 1);

const INTERVAL_MILLIS = 10_000;
const STAGERS = 10;
const PER_STAGER_A_SECOND = 500;
const COMMIT_MILLIS = 25;
const QUERY_MILLIS = 100;
const COMMITTERS = 20;
/** Work is answered within it: what is measured is when it is sent. */
const WRITE_MILLIS = 300;

const never = new AbortController().signal;

test(`five thousand messages a second for ${MINUTES} virtual minutes are sent to committers within an interval and two seconds, for at most a hundred billed operations a thousand`, async () => {
  const clock = new ManualClock(Math.ceil(Date.UTC(2026, 0, 1) / INTERVAL_MILLIS) * INTERVAL_MILLIS);
  const random = seededRandom(20261130);
  const store = new MemoryStageStore(clock);
  store.isLogging = true;
  store.fault = ({ method }) => ({ delayMillis: COMMITS.has(method) ? COMMIT_MILLIS : QUERY_MILLIS });
  const sentAfter: number[] = [];
  const late: number[] = [];
  const committers = Array.from({ length: COMMITTERS }, () => committer(store, clock, random));
  let next = 0;
  const topic = workTopic((work: CommitWork) => {
    const now = clock.now();
    for (const { id, stagedAt } of headsOf(store, work)) {
      if (seen.has(id)) continue;
      seen.add(id);
      sentAfter.push(now - stagedAt);
      if (now >= startedAt + (MINUTES * 60_000) / 2) late.push(now - stagedAt);
    }
    const one = committers[(next += 1) % COMMITTERS];
    if (one) drainWork(work, one, never).catch((error: unknown) => failures.push(error));
  });
  const seen = new Set<string>();
  const failures: unknown[] = [];
  const startedAt = clock.now();

  const stagers = Array.from({ length: STAGERS }, () => stager(store, clock, random));
  const envelope = envelopeOf(1, rowEntry('row', cell('v'.repeat(200))));
  let messages = 0;
  for (const one of stagers) {
    const arrive = (): void => {
      messages += 1;
      one.stage([envelope], never).catch((error: unknown) => failures.push(error));
      const wait = (-Math.log(1 - random()) * 1000) / PER_STAGER_A_SECOND;
      if (clock.now() + wait < startedAt + MINUTES * 60_000) clock.after(wait, arrive);
    };
    clock.after(random() * 10, arrive);
  }
  for (let minute = 0; minute < MINUTES + 1; minute += 1) {
    const runtime = testRuntime({ clock, random });
    const options = {
      checkpointIntervalMillis: INTERVAL_MILLIS,
      maxStagedEntries: 1_000_000,
      maxStagedBytes: 1e12,
      patienceMillis: 600_000,
      fingerprint: TEST_FINGERPRINT,
    };
    const decider = checkpointDecider('orders', options, { store: store.coordinator, topic, runtime });
    const ticks = createTicks(decider, { store: store.coordinator, clock, owner: `coordinator-${minute}` });
    const run = runTicks(ticks, runtime, never).then(({ failures: failed }) => {
      if (failed > 0) failures.push(new Error(`${failed} ticks failed`));
    });
    for (let second = 0; second < 60; second += 1) await clock.advance(1000);
    await run;
  }

  expect(failures).toEqual([]);
  expect(store.segments).toEqual([]);
  const { reads, writes, deletes } = store.billed;
  const figures = {
    messages,
    segments: seen.size,
    sentAfterP95: quantileOf(sortedNumbers(sentAfter), 0.95) ?? 0,
    sentAfterP95OfSecondHalf: quantileOf(sortedNumbers(late), 0.95) ?? 0,
    operationsPerThousand: ((reads + writes + deletes) * 1000) / messages,
    busiestDocumentPerMinute: busiest(store, (document) => !document.startsWith('segments/')),
  };
  console.log(JSON.stringify(figures));
  expect(figures.sentAfterP95).toBeLessThanOrEqual(INTERVAL_MILLIS + 2000);
  expect(figures.sentAfterP95OfSecondHalf).toBeLessThanOrEqual(INTERVAL_MILLIS + 2000);
  expect(figures.operationsPerThousand).toBeLessThanOrEqual(100);
  // No document is written more than once a second over a minute.
  expect(figures.busiestDocumentPerMinute).toBeLessThanOrEqual(60);
}, 600_000);

const COMMITS = new Set(['stage', 'finish', 'commit', 'markSent']);

function stager(store: MemoryStageStore, clock: Clock, random: () => number): Stager {
  const runtime = testRuntime({ clock, random });
  const numbers = new PipelineWatch(INTERVAL_MILLIS, { store: store.staging, runtime, fingerprint: TEST_FINGERPRINT });
  return new Stager(
    { lingerMillis: defaultLingerMillis(INTERVAL_MILLIS), maxWaitingMessages: 40 },
    { store: store.staging, numbers, runtime, newRandomId: () => digits(random) },
  );
}

function committer(store: MemoryStageStore, clock: Clock, random: () => number): Committer {
  const runtime = testRuntime({ clock, random });
  return {
    store: store.committing,
    completed: new CompletedNumber(store.committing, runtime.logger),
    writes: {
      submit: async (envelopes) => {
        await new Promise<void>((resolve) => clock.after(WRITE_MILLIS, resolve));
        return envelopes.map(() => ({ kind: 'applied' }));
      },
    },
    targets: { check: () => Promise.resolve(undefined), forget: () => undefined },
    onRejected: failPolicy(),
    runtime,
  };
}

const digits = (random: () => number): string =>
  Array.from({ length: 16 }, () => Math.floor(random() * 16).toString(16)).join('');

const headsOf = (store: MemoryStageStore, { ranges, segments }: CommitWork) => [
  ...ranges.flatMap((range) => store.headsIn(range).filter(({ id }) => isInRange(id, range))),
  ...segments.flatMap((id) => store.head(id) ?? []),
];

/** The most writes of one document in one minute. */
function busiest({ log }: MemoryStageStore, isWanted: (document: string) => boolean): number {
  const counts = new Map<string, number>();
  for (const { at, document } of log) {
    if (!isWanted(document)) continue;
    const key = `${document} ${Math.floor(at / 60_000)}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return Math.max(0, ...counts.values());
}
