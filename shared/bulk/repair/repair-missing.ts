import { familiesOf } from '../../model/mutation.ts';
import type { Trouble } from '../outcome.ts';
import { type Course, type Missing, stillWanted } from '../sending/attempt.ts';
import type { Batch } from '../sending/batch.ts';
import { decide, narrow } from '../sending/isolate.ts';
import type { RowWrite } from '../sending/write-queue.ts';
import type { WaitingEntry } from '../waiting/waiting-entry.ts';
import type { TableKeeper, TableState } from './table-keeper.ts';

/**
 * Repairs writes that were answered NOT_FOUND: the table is ensured, and they are sent again. Each round costs every
 * write one of its attempts; what is left when they are used up is redelivered, never dropped.
 *
 * - Something was ensured since they were sent: they are sent again at once.
 * - It was ensured before and the answer is the same: an entry that names a family the table has not is to blame. Its
 *   fellows are sent again at once. If nobody is, the change has not reached everywhere, and they wait for it.
 * - It could not be ensured: a suspicion that a batch shares is narrowed down, so that whoever names nothing that is
 *   missing is not held up; the others wait for the next attempt to ensure.
 *
 * @param before what was known of the table when they were sent.
 */
export async function repairMissing(
  missing: readonly Missing[],
  before: TableState | undefined,
  batch: Batch,
  tables: TableKeeper,
): Promise<void> {
  const { maxAttempts } = tables;
  const { table } = batch;
  let known = before;
  let isNarrowed = false;
  let left = missing;
  for (;;) {
    left = left.filter(({ write }) => stillWanted(write, batch));
    for (const { write } of left) write.repairs += 1;
    left = await giveUp(left, maxAttempts + 1, stillMissing(maxAttempts), batch);
    if (left.length === 0) return;
    const state = await park(left, 'being ensured', batch, () => tables.ensure(table, known));
    switch (state.kind) {
      case 'mistyped':
        refuse(left, state.message, batch);
        return;
      case 'failed':
        if (!isNarrowed) left = await narrowDown(left, batch);
        isNarrowed = true;
        left = await giveUp(left, maxAttempts, notEnsured(maxAttempts, state.message), batch);
        if (left.length > 0) await park(left, state.message, batch, () => tables.sleepUntil(state.standsUntil));
        known = state;
        break;
      case 'ensured': {
        const innocent = state === known ? blameUndeclared(left, state.families, batch) : left;
        if (state === known && innocent === left) {
          const attempts = Math.min(...left.map(({ write }) => write.repairs)) - 1;
          const until = tables.retryAt(Math.max(1, attempts));
          await park(left, 'ensured, and not yet seen everywhere', batch, () => tables.sleepUntil(until));
        }
        known = tables.known(table);
        left = await setAside(
          innocent.map(({ write }) => write),
          batch,
        );
        break;
      }
      default:
        return state satisfies never;
    }
  }
}

/** Sends the writes in one request and decides them, but for those that are answered NOT_FOUND: these are returned. */
export async function setAside(writes: readonly RowWrite[], batch: Batch): Promise<Missing[]> {
  const missing: Missing[] = [];
  await decide(writes, 'write', { batch, aside: collect(missing, true, batch) });
  return missing;
}

/** Halves a shared suspicion of a missing family; returns who is refused alone. A missing table is shared by all in truth. */
async function narrowDown(missing: readonly Missing[], batch: Batch): Promise<readonly Missing[]> {
  const entries = missing.reduce((sum, { write }) => sum + write.parts.length, 0);
  if (entries < 2 || missing.every(({ reason }) => reason === 'missing-table')) return missing;
  const confirmed: Missing[] = [];
  const suspects = missing.map(({ write }) => write);
  await narrow(suspects, suspects.length === 1, { batch, aside: collect(confirmed, false, batch) });
  return confirmed;
}

const collect = (missing: Missing[], evenShared: boolean, batch: Batch): NonNullable<Course['aside']> => ({
  evenShared,
  add(one, answered) {
    batch.countMissing(answered);
    missing.push(one);
  },
});

/** Sends those that have used up that many attempts a last time, to be decided whatever is answered; returns the others. */
async function giveUp(
  missing: readonly Missing[],
  attempts: number,
  advice: string,
  batch: Batch,
): Promise<readonly Missing[]> {
  const spent = missing.filter(({ write }) => write.repairs >= attempts).map(({ write }) => write);
  if (spent.length === 0) return missing;
  await decide(spent, 'write', { batch, advice });
  return missing.filter(({ write }) => write.repairs < attempts);
}

/** Redelivers the entries that name a family which the table has not; returns the very list when there is none. */
function blameUndeclared(missing: readonly Missing[], families: ReadonlySet<string>, batch: Batch): readonly Missing[] {
  const absentIn = ({ entry }: WaitingEntry): string[] => familiesOf(entry).filter((name) => !families.has(name));
  const isToBlame = ({ write, reason }: Missing): boolean =>
    reason === 'missing-family' && write.parts.some((part) => absentIn(part).length > 0);
  if (!missing.some(isToBlame)) return missing;
  return missing.filter((one) => {
    if (!isToBlame(one)) return true;
    const { write, reason, status } = one;
    for (const part of write.parts) {
      const names = absentIn(part);
      if (names.length > 0) batch.settle(part, { kind: 'redeliver', reason, status, advice: undeclared(names) });
    }
    write.parts = write.parts.filter((part) => absentIn(part).length === 0);
    if (write.parts.length === 0) batch.release(write);
    return write.parts.length > 0;
  });
}

function refuse(missing: readonly Missing[], advice: string, batch: Batch): void {
  for (const { write, status } of missing) {
    for (const part of write.parts) batch.settle(part, { kind: 'redeliver', reason: 'refused', status, advice });
    batch.release(write);
  }
}

function park<Result>(
  missing: readonly Missing[],
  progress: string,
  batch: Batch,
  wait: () => Promise<Result>,
): Promise<Result> {
  const reason = missing[0]?.reason ?? 'missing-table';
  const what = reason === 'missing-table' ? 'the table' : 'a column family';
  const trouble: Trouble = { reason, message: `${what} was missing; ${progress}` };
  return batch.park(
    missing.flatMap(({ write }) => write.parts),
    trouble,
    wait,
  );
}

const MAX_NAMES = 5;

function undeclared(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => JSON.stringify(name.slice(0, 64)));
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
  return `the table has no column family ${shown.join(', ')}${more}, and tableCreateOptions does not declare it; declare or create it, or fix the serializer, the message is redelivered until then`;
}

const stillMissing = (attempts: number): string =>
  `the table and its declared families were ensured, and still after ${attempts} attempts (recoveryMaxAttempts) something is missing; an entry may name a family that tableCreateOptions does not declare, or appProfileId a profile that does not exist; the message is redelivered`;

const notEnsured = (attempts: number, message: string): string =>
  `the table could not be ensured within ${attempts} attempts (recoveryMaxAttempts), at last because ${message}; the service account needs bigtable.tables.create, get and update; the message is redelivered`;
