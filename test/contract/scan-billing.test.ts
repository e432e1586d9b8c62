import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LocalFirestore, startFirestoreServer } from '../../infra/local/servers/firestore/server.ts';
import { systemClock } from '../../shared/base/clock.ts';
import { createTicks } from '../../shared/coordinator/tick.ts';
import { createDatabase, type Database, type ScanViews } from '../../shared/google/firestore/database.ts';
import { prefixRange } from '../../shared/model/row-range.ts';
import { readRunStatus } from '../../shared/scan/runs/run-status.ts';
import { scanDecider } from '../../shared/scan/runs/scan-decider.ts';
import { splitClaims } from '../../shared/scan/runs/split-claims.ts';
import { NO_COUNTS } from '../../shared/scan/runs/split.ts';
import { bytesOfSplit, finishSplit, moveSplit, waitingSplit } from '../../shared/scan/runs/split-updates.ts';
import { startRun } from '../../shared/scan/runs/start-run.ts';
import { Claims } from '../../shared/slots/claims.ts';
import { openSlot } from '../../shared/slots/open-slot.ts';
import { withEnvironment } from '../support/environment.ts';
import { MemoryScanStore } from '../support/memory-scan-store.ts';
import { testRuntime } from '../support/runtime.ts';

/** What simulations count of the store in memory is what the embedded server counts, which bills as the service says it does. */
let firestore: LocalFirestore;
let database: Database;
const { signal } = new AbortController();
const SPLITS = 12;

beforeAll(async () => {
  firestore = await startFirestoreServer();
  database = createDatabase({ databaseId: 'connector', projectId: 'p' });
  await withEnvironment({ FIRESTORE_EMULATOR_HOST: firestore.address }, async () => {
    await database.scan('first').runs.readPipeline(signal);
  });
});

afterAll(async () => {
  await database.close();
  await firestore.close();
});

/** A run from its start to its end, step by step, so that both are asked the same. */
async function wholeRun({ slots, coordinator, runs }: ScanViews): Promise<void> {
  // The pace of a slot's writes is not waited for.
  const clock = { ...systemClock, monotonic: () => 1_000 * systemClock.monotonic() };
  const runtime = testRuntime({ clock });
  await startRun({ id: 'r1', options: () => '{}', concurrentRuns: 'refuse' }, { store: runs, clock }, signal);
  const decider = scanDecider('export', {
    store: coordinator,
    runtime,
    planRanges: () => Promise.resolve(Array.from({ length: SPLITS }, (_, place) => prefixRange(Buffer.from([place])))),
    newPlanId: () => '0123456789abcdef',
    announce: () => Promise.resolve(),
  });
  const ticks = createTicks(decider, { store: coordinator, clock, owner: 'coordinator' });
  await ticks.tick(signal);
  const [open] = await slots.readOpenRuns(signal);
  const plan = open!.value.plan!;
  const dependencies = { store: slots, giveBack: waitingSplit, runtime };
  const opened = await openSlot(0, 'me', dependencies, signal);
  if (opened.kind === 'held') throw new Error('held');
  const { session } = opened;
  const claims = new Claims({ parallelism: 1, bytesOf: bytesOfSplit }, session, dependencies);
  const source = splitClaims('r1', plan, { store: slots, clock });
  for (let round = 0; round < SPLITS / 4; round += 1) {
    await claims.look(source, { wanted: 4, concurrent: 4 }, signal);
    const ids = Object.keys(session.units);
    const progress = { range: prefixRange(Buffer.from([1, round])), counts: { ...NO_COUNTS, rows: 10 } };
    await Promise.all(ids.map((id) => session.update(moveSplit(id, progress))));
    await readRunStatus('r1', runs, signal);
    await Promise.all(ids.map((id) => session.update(finishSplit(id, progress))));
  }
  await claims.look(source, { wanted: 4, concurrent: 4 }, signal);
  await session.release();
  await ticks.tick(signal);
  await runs.listRuns(5, signal);
  expect((await runs.readRun('r1', signal))?.value).toMatchObject({ state: 'done', totals: { rows: 10 * SPLITS } });
}

test('a run costs the store in memory what it costs the embedded Firestore, operation by operation', async () => {
  const memory = new MemoryScanStore();
  await wholeRun(memory);
  const before = firestore.billed();
  await wholeRun(database.scan('export'));
  const after = firestore.billed();
  expect({ reads: after.reads - before.reads, writes: after.writes - before.writes, deletes: after.deletes }).toEqual(
    memory.billed,
  );
  // A split is planned, claimed, ended, and given an expiry.
  expect(memory.billed.writes).toBeLessThan(4 * SPLITS + 25);
});
