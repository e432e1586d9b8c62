import type { DocumentSnapshot } from '@google-cloud/firestore';
import {
  heldOf,
  type HeldPartition,
  type Merge,
  type Missing,
  type Partition,
  type PartitionState,
  type Restarted,
  type Token,
} from '../../change-stream/ledger/partition.ts';
import type { Retention, Source, SourceStatus } from '../../change-stream/source.ts';
import type { Led } from '../../coordinator/ports.ts';
import type { Nanos } from '../../model/change.ts';
import type { RowRange } from '../../model/row-range.ts';
import { endMark, restOf, turnOf } from './change-stream-paths.ts';
import type { FirestoreClient } from './client.ts';
import { type Fields, fieldsOf, listIn, malformed, mapIn, numbersOf, textIn } from './fields.ts';
import { FORMAT, knownFormat, rangeFields, readRange } from './format.ts';

/**
 * The documents of a change stream as values, and values as documents. Nanoseconds are texts of digits, because neither a
 * number nor a timestamp of Firestore holds them; keys are bytes. For the layout see `change-stream-paths.ts`.
 */

const KIND = 'change-stream-source';

export function sourceFields({
  lease,
  startTime,
  endTime,
  retention,
  dead,
  ...source
}: Led<Source>): Record<string, unknown> {
  return {
    ...{ kind: KIND, format: FORMAT, ...source, lease: { ...lease }, dead: [...dead] },
    ...(startTime !== undefined && { startTime: String(startTime) }),
    ...(endTime !== undefined && { endTime: String(endTime) }),
    ...(retention && { retention: { ...retention } }),
  };
}

const STATUSES: readonly SourceStatus[] = ['starting', 'reading', 'done', 'stopped', 'paused'];

export function readSource(snapshot: DocumentSnapshot): Led<Source> {
  const fields = knownFormat(snapshot, fieldsOf(snapshot));
  if (fields.kind !== KIND) throw malformed(snapshot, 'kind', `"${KIND}"`);
  const number = numbersOf(snapshot);
  const lease = mapIn(snapshot, fields, 'lease');
  const status = STATUSES.find((known) => known === fields.status);
  if (!status) throw malformed(snapshot, 'status', `one of ${STATUSES.join(', ')}`);
  const at = (name: 'startTime' | 'endTime') =>
    fields[name] === undefined ? {} : { [name]: nanosIn(snapshot, fields, name) };
  const dead = fields.dead;
  if (!Array.isArray(dead)) throw malformed(snapshot, 'dead', 'a list of numbers');
  return {
    commits: number(fields, 'commits'),
    status,
    generation: number(fields, 'generation'),
    options: textIn(snapshot, fields, 'options'),
    ...at('startTime'),
    ...at('endTime'),
    ...(fields.retention !== undefined && { retention: readRetention(snapshot, mapIn(snapshot, fields, 'retention')) }),
    ...(fields.problem !== undefined && { problem: textIn(snapshot, fields, 'problem') }),
    ...(fields.written !== undefined && { written: number(fields, 'written') }),
    dead: dead.map((_, place) => number({ dead: dead[place] as unknown }, 'dead')),
    lease: {
      owner: textIn(snapshot, lease, 'owner'),
      epoch: number(lease, 'epoch'),
      expiresAt: number(lease, 'expiresAt'),
    },
  };
}

const readRetention = (snapshot: DocumentSnapshot, fields: Fields): Retention => ({
  millis: numbersOf(snapshot)(fields, 'millis'),
  fetchedAt: numbersOf(snapshot)(fields, 'fetchedAt'),
});

/** By which a partition is found, each while it is so. */
const MARKS = ['open', 'turn', 'rest', 'end', 'expireAt'];

/** Everything of a partition's document that is there, with deletions of the marks that it has not. */
export const changedPartitionFields = (partition: Partition, client: FirestoreClient): Record<string, unknown> => ({
  ...Object.fromEntries(MARKS.map((mark) => [mark, client.FieldValue.delete()])),
  ...partitionFields(partition, client),
});

/** The whole document of a partition. */
export function partitionFields(partition: Partition, client: FirestoreClient): Record<string, unknown> {
  const detail = { format: FORMAT, ...heldFields(heldOf(partition)), state: { ...partition.state } };
  return { ...marksOf(partition, client), detail };
}

function marksOf({ generation, round, position, state }: Partition, { Timestamp }: FirestoreClient): object {
  switch (state.kind) {
    case 'waiting':
      return { open: generation, turn: turnOf(generation, round, position.lowWatermark) };
    case 'resting':
      return { open: generation, rest: restOf(generation, state.notBefore) };
    case 'held':
      return { open: generation };
    case 'done':
      return { end: endMark(generation, 'done'), expireAt: Timestamp.fromMillis(state.keptUntil) };
    case 'completed': {
      if (state.keptUntil === undefined) return { end: endMark(generation, 'completed') };
      return { end: endMark(generation, 'kept'), expireAt: Timestamp.fromMillis(state.keptUntil) };
    }
    default:
      return state satisfies never;
  }
}

export function readPartition(snapshot: DocumentSnapshot): Partition {
  const detail = knownFormat(snapshot, mapIn(snapshot, fieldsOf(snapshot), 'detail'));
  const state = readState(snapshot, mapIn(snapshot, detail, 'state'));
  return { id: snapshot.id, ...readHeldPartition(snapshot, detail), state };
}

function readState(snapshot: DocumentSnapshot, state: Fields): PartitionState {
  const number = numbersOf(snapshot);
  switch (state.kind) {
    case 'waiting':
      return { kind: 'waiting', since: number(state, 'since') };
    case 'resting':
      return { kind: 'resting', notBefore: number(state, 'notBefore') };
    case 'held':
      return { kind: 'held', slot: number(state, 'slot'), epoch: number(state, 'epoch') };
    case 'done':
      return { kind: 'done', keptUntil: number(state, 'keptUntil') };
    case 'completed':
      return { kind: 'completed', ...(state.keptUntil !== undefined && { keptUntil: number(state, 'keptUntil') }) };
    default:
      throw malformed(snapshot, 'state', 'one of waiting, resting, held, done, completed');
  }
}

export const heldFields = ({ range, position, restarted, ...held }: HeldPartition): Record<string, unknown> => ({
  ...held,
  range: rangeFields(range),
  ...tokenFields(position.tokens),
  lowWatermark: String(position.lowWatermark),
  ...restartedFields(restarted),
});

export function readHeldPartition(snapshot: DocumentSnapshot, fields: Fields): HeldPartition {
  const number = numbersOf(snapshot);
  return {
    generation: number(fields, 'generation'),
    range: rangeIn(snapshot, fields, 'range'),
    position: { tokens: readTokens(snapshot, fields), lowWatermark: nanosIn(snapshot, fields, 'lowWatermark') },
    round: number(fields, 'round'),
    failures: number(fields, 'failures'),
    ...(fields.problem !== undefined && { problem: textIn(snapshot, fields, 'problem') }),
    ...readRestarted(snapshot, fields),
  };
}

export const mergeFields = ({
  generation,
  target,
  tokens,
  lowWatermark,
  round,
  restarted,
}: Merge): Record<string, unknown> => ({
  generation,
  detail: {
    ...{ format: FORMAT, target: rangeFields(target), lowWatermark: String(lowWatermark), round },
    ...tokenFields(tokens),
    ...restartedFields(restarted),
  },
});

export function readMerge(snapshot: DocumentSnapshot): Merge {
  const fields = fieldsOf(snapshot);
  const detail = knownFormat(snapshot, mapIn(snapshot, fields, 'detail'));
  return {
    id: snapshot.id,
    generation: numbersOf(snapshot)(fields, 'generation'),
    target: rangeIn(snapshot, detail, 'target'),
    tokens: readTokens(snapshot, detail),
    lowWatermark: nanosIn(snapshot, detail, 'lowWatermark'),
    round: numbersOf(snapshot)(detail, 'round'),
    ...readRestarted(snapshot, detail),
  };
}

export const missingFields = ({
  generation,
  range,
  firstObserved,
  lowWatermark,
}: Missing): Record<string, unknown> => ({
  generation,
  detail: { format: FORMAT, range: rangeFields(range), firstObserved, lowWatermark: String(lowWatermark) },
});

export function readMissing(snapshot: DocumentSnapshot): Missing {
  const fields = fieldsOf(snapshot);
  const detail = knownFormat(snapshot, mapIn(snapshot, fields, 'detail'));
  return {
    id: snapshot.id,
    generation: numbersOf(snapshot)(fields, 'generation'),
    range: rangeIn(snapshot, detail, 'range'),
    firstObserved: numbersOf(snapshot)(detail, 'firstObserved'),
    lowWatermark: nanosIn(snapshot, detail, 'lowWatermark'),
  };
}

const tokenFields = (tokens: readonly Token[]): object =>
  tokens.length === 0 ? {} : { tokens: tokens.map(({ range, token }) => ({ range: rangeFields(range), token })) };

const readTokens = (snapshot: DocumentSnapshot, fields: Fields): Token[] =>
  listIn(snapshot, fields, 'tokens').map((each) => ({
    range: rangeIn(snapshot, each, 'range'),
    token: textIn(snapshot, each, 'token'),
  }));

const restartedFields = (restarted: Restarted | undefined): object =>
  restarted ? { restarted: { how: restarted.how, until: String(restarted.until) } } : {};

function readRestarted(snapshot: DocumentSnapshot, fields: Fields): { readonly restarted?: Restarted } {
  if (fields.restarted === undefined) return {};
  const map = mapIn(snapshot, fields, 'restarted');
  const how = (['tokenless', 'fallback'] as const).find((known) => known === map.how);
  if (!how) throw malformed(snapshot, 'restarted.how', 'tokenless or fallback');
  return { restarted: { how, until: nanosIn(snapshot, map, 'until') } };
}

const rangeIn = (snapshot: DocumentSnapshot, fields: Fields, name: string): RowRange =>
  readRange(snapshot, mapIn(snapshot, fields, name));

function nanosIn(snapshot: DocumentSnapshot, fields: Fields, name: string): Nanos {
  const text = textIn(snapshot, fields, name);
  if (/^-?\d{1,20}$/.test(text)) return BigInt(text);
  throw malformed(snapshot, name, 'nanoseconds as digits');
}
