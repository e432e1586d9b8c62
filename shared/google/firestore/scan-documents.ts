import type { DocumentSnapshot } from '@google-cloud/firestore';
import type { Led } from '../../coordinator/ports.ts';
import type { ScanProgress } from '../../scan/runs/ports.ts';
import { type DeadPlan, isOpen, type Run } from '../../scan/runs/run.ts';
import {
  COUNT_NAMES,
  type HeldSplit,
  planOf,
  type Split,
  type SplitCounts,
  type SplitState,
} from '../../scan/runs/split.ts';
import type { FirestoreClient } from './client.ts';
import { type Fields, fieldsOf, listIn, malformed, mapIn, numbersOf, textIn } from './fields.ts';
import { FORMAT, knownFormat, rangeFields, readRange } from './format.ts';
import { endMark, waitingTurn } from './scan-paths.ts';

/** The documents of a scanned pipeline as values, and values as documents. For their layout see `scan-paths.ts`. */

/** Fields of a run's document that a listing reads: all but what the run goes by. */
export const RUN_FIELDS = ['startedAt', 'head'];

export const progressFields = ({ commits, lease, lastDone }: Led<ScanProgress>): Record<string, unknown> => ({
  ...{ kind: 'scan-source', format: FORMAT, commits, lease: { ...lease } },
  ...(lastDone && { lastDone: { ...lastDone } }),
});

export function readProgress(snapshot: DocumentSnapshot): Led<ScanProgress> {
  const fields = knownFormat(snapshot, fieldsOf(snapshot));
  if (fields.kind !== 'scan-source') throw malformed(snapshot, 'kind', '"scan-source"');
  const number = numbersOf(snapshot);
  const lease = mapIn(snapshot, fields, 'lease');
  const last = fields.lastDone === undefined ? undefined : mapIn(snapshot, fields, 'lastDone');
  return {
    commits: number(fields, 'commits'),
    lease: {
      owner: textIn(snapshot, lease, 'owner'),
      epoch: number(lease, 'epoch'),
      expiresAt: number(lease, 'expiresAt'),
    },
    ...(last && { lastDone: { run: textIn(snapshot, last, 'run'), startedAt: number(last, 'startedAt') } }),
  };
}

export const runFields = (run: Run, { FieldValue }: FirestoreClient): Record<string, unknown> => ({
  startedAt: run.startedAt,
  open: isOpen(run) ? true : FieldValue.delete(),
  head: headOf(run),
});

function headOf({ state, plan, planning, dead, readingSince, endedAt, totals, problem, isTold }: Run): object {
  return {
    ...{ format: FORMAT, state, isTold, dead: dead.map((each) => ({ ...each })) },
    ...(plan && { plan: { ...plan } }),
    ...(planning && { planning: { ...planning } }),
    ...(readingSince !== undefined && { readingSince }),
    ...(endedAt !== undefined && { endedAt }),
    ...(totals && { totals: { ...totals } }),
    ...(problem !== undefined && { problem }),
  };
}

const STATES: readonly Run['state'][] = ['planning', 'reading', 'done', 'failed', 'cancelled'];

export function readRun(snapshot: DocumentSnapshot): Run {
  const fields = fieldsOf(snapshot);
  const head = knownFormat(snapshot, mapIn(snapshot, fields, 'head'));
  const number = numbersOf(snapshot);
  const state = STATES.find((known) => known === head.state);
  if (!state) throw malformed(snapshot, 'state', `one of ${STATES.join(', ')}`);
  const at = (name: 'readingSince' | 'endedAt') => (head[name] === undefined ? {} : { [name]: number(head, name) });
  const within = <Value>(name: 'plan' | 'planning' | 'totals', read: (map: Fields) => Value) =>
    head[name] === undefined ? {} : { [name]: read(mapIn(snapshot, head, name)) };
  return {
    id: snapshot.id,
    state,
    startedAt: number(fields, 'startedAt'),
    ...within('plan', (map) => ({ id: textIn(snapshot, map, 'id'), splits: number(map, 'splits') })),
    ...within('planning', (map) => ({ id: textIn(snapshot, map, 'id'), written: number(map, 'written') })),
    dead: listIn(snapshot, head, 'dead').map((map): DeadPlan => ({
      id: textIn(snapshot, map, 'id'),
      splits: number(map, 'splits'),
      expiring: number(map, 'expiring'),
    })),
    ...at('readingSince'),
    ...at('endedAt'),
    ...within('totals', (map) => readCounts(snapshot, map)),
    ...(head.problem !== undefined && { problem: textIn(snapshot, head, 'problem') }),
    isTold: head.isTold === true,
  };
}

/** By which a split is found, each while it is so. */
const MARKS = ['turn', 'end', 'failing'];

/** Everything of the document of a split that is there but its expiry, with deletions of the marks that it has not. */
export function splitFields(split: Split, { FieldValue }: FirestoreClient): Record<string, unknown> {
  return { ...Object.fromEntries(MARKS.map((mark) => [mark, FieldValue.delete()])), ...newSplitFields(split) };
}

/** The document of a split that is not there yet. */
export function newSplitFields({ id, range, counts, failures, problem, state }: Split): Record<string, unknown> {
  const plan = planOf(id);
  return {
    ...(state.kind === 'waiting' && { turn: waitingTurn(plan, state.since, id) }),
    ...((state.kind === 'done' || state.kind === 'failed') && { end: endMark(plan, state.kind) }),
    ...(failures > 0 && { failing: failures }),
    ...counts,
    detail: {
      ...{ format: FORMAT, range: rangeFields(range), failures, state: { ...state } },
      ...(problem !== undefined && { problem }),
    },
  };
}

export function readSplit(snapshot: DocumentSnapshot, run: string): Split {
  const fields = fieldsOf(snapshot);
  const detail = knownFormat(snapshot, mapIn(snapshot, fields, 'detail'));
  return {
    id: snapshot.id,
    ...readHeld(snapshot, { ...detail, counts: fields, run }),
    state: readState(snapshot, mapIn(snapshot, detail, 'state')),
  };
}

function readState(snapshot: DocumentSnapshot, state: Fields): SplitState {
  const number = numbersOf(snapshot);
  switch (state.kind) {
    case 'waiting':
      return { kind: 'waiting', since: number(state, 'since') };
    case 'held':
      return { kind: 'held', slot: number(state, 'slot'), epoch: number(state, 'epoch') };
    case 'done':
    case 'failed':
      return { kind: state.kind };
    default:
      throw malformed(snapshot, 'state', 'waiting, held, done or failed');
  }
}

export const heldFields = ({ range, counts, ...held }: HeldSplit): Record<string, unknown> => ({
  ...held,
  range: rangeFields(range),
  counts: { ...counts },
});

export const readHeld = (snapshot: DocumentSnapshot, fields: Fields): HeldSplit => ({
  run: textIn(snapshot, fields, 'run'),
  range: readRange(snapshot, mapIn(snapshot, fields, 'range')),
  counts: readCounts(snapshot, mapIn(snapshot, fields, 'counts')),
  failures: numbersOf(snapshot)(fields, 'failures'),
  ...(fields.problem !== undefined && { problem: textIn(snapshot, fields, 'problem') }),
});

/** Counts that a later version of this format adds are none here. */
const readCounts = (snapshot: DocumentSnapshot, fields: Fields): SplitCounts =>
  Object.fromEntries(
    COUNT_NAMES.map((name) => [name, fields[name] === undefined ? 0 : numbersOf(snapshot)(fields, name)]),
  ) as unknown as SplitCounts;
