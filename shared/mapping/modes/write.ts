import { RecordError } from '../../base/errors.ts';
import { MAX_MUTATIONS, type Mutation, type RowEntry } from '../../model/mutation.ts';
import type { RowRequest } from '../../model/row-request.ts';
import type { SerializerContext } from '../context.ts';
import type { DecodedRecord } from '../values/fields.ts';

/** What a record becomes, by the RPC that carries it. */
export type MappedWrite = { readonly kind: 'entry'; readonly entry: RowEntry } | RowRequest;

/** One mode, compiled: the record and its row key in, the write out. Throws a `RecordError`. */
export type WriteOf = (record: DecodedRecord, rowKey: Buffer, context: SerializerContext) => MappedWrite;

/** An entry with something in it: 1 to 100,000 mutations. */
export function entryWrite(rowKey: Buffer, mutations: readonly Mutation[]): MappedWrite {
  return { kind: 'entry', entry: { rowKey, mutations: checkCount(mutations, 'mutations') } };
}

/** Refuses a record that maps to nothing or to more than one request may carry. */
export function checkCount<Item>(items: readonly Item[], what: string): readonly Item[] {
  if (items.length > 0 && items.length <= MAX_MUTATIONS) return items;
  throw new RecordError(`record: must map to 1 to ${MAX_MUTATIONS} ${what}, got ${items.length}`);
}
