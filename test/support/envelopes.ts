import type { Mutation, RowEntry } from '../../shared/model/mutation.ts';
import { tableName } from '../../shared/model/table-name.ts';
import { type NewEnvelope, createEnvelope } from '../../shared/staged/envelope/create-envelope.ts';
import type { Envelope } from '../../shared/staged/envelope/envelope.ts';

export const STAGED_TABLE = tableName('p', 'i', 't');

/** One cell of the family `f`. */
export const cell = (value = 'v', family = 'f'): Mutation => ({
  kind: 'setCell',
  family,
  qualifier: Buffer.from('q'),
  timestampMicros: 1000n,
  value: Buffer.from(value),
});

/** What an aggregate column adds: an effect that counts as often as it is applied. */
export const addition = (amount: bigint, family = 'sums'): Mutation => ({
  kind: 'addToCell',
  family,
  qualifier: Buffer.from('total'),
  timestampMicros: 0n,
  input: { kind: 'int64', value: amount },
});

export const rowEntry = (rowKey: string, ...mutations: readonly Mutation[]): RowEntry => ({
  rowKey: Buffer.from(rowKey),
  mutations: mutations.length > 0 ? mutations : [cell()],
});

/** The identity of a number: its digits, padded. */
export const identityNumber = (number: number): string => number.toString(16).padStart(32, '0');

export const envelopeOf = (number: number, entry: RowEntry, given: Partial<NewEnvelope> = {}): Envelope =>
  createEnvelope({
    identity: identityNumber(number),
    table: STAGED_TABLE,
    appProfileId: '',
    markerFamily: 'markers',
    markerTimestampMicros: 0n,
    entry,
    source: { messageId: String(number), recordIndex: 0, publishTimeMicros: 1_700_000_000_000_000n },
    ...given,
  });
