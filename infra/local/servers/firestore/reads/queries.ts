import type {
  RunAggregationQueryResponse,
  RunQueryResponse,
} from '../../../../../shared/proto/google/firestore/v1/firestore.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import type { RequestOf } from '../api.ts';
import { documentMessage } from '../documents/document.ts';
import { databaseOf } from '../documents/names.ts';
import { aggregate } from '../query/aggregations.ts';
import { compileQuery, runQuery } from '../query/query.ts';
import type { FirestoreState } from '../state.ts';
import { NO_TRANSACTION, startReading } from './reads.ts';

/** The documents of a query; a message without one says when it was read where there is none. */
export function runStructuredQuery(
  state: FirestoreState,
  { parent, queryType, consistencySelector }: RequestOf<'RunQuery'>,
): RunQueryResponse[] {
  if (!queryType) throw new GrpcError('INVALID_ARGUMENT', 'a query must be structured');
  const query = compileQuery(parent, queryType.value);
  const reading = startReading(state, databaseOf(parent), consistencySelector);
  const { view, readTime, begun } = reading;
  reading.lockQuery(query);
  const { documents, skipped } = runQuery(view, query);
  state.counters.queryRun(documents.length + skipped);
  const blank: RunQueryResponse = {
    transaction: NO_TRANSACTION,
    document: undefined,
    readTime,
    skippedResults: 0,
    continuationSelector: undefined,
    explainMetrics: undefined,
  };
  const hasHead = begun !== undefined || skipped > 0 || documents.length === 0;
  return [
    ...(hasHead ? [{ ...blank, transaction: begun ?? NO_TRANSACTION, skippedResults: skipped }] : []),
    ...documents.map((document) => ({ ...blank, document: documentMessage(document, query.mask) })),
  ];
}

/** Aggregations over the documents of a query, in one message. */
export function runAggregationQuery(
  state: FirestoreState,
  { parent, queryType, consistencySelector }: RequestOf<'RunAggregationQuery'>,
): RunAggregationQueryResponse[] {
  const structured = queryType?.value.queryType?.value;
  if (!queryType || !structured)
    throw new GrpcError('INVALID_ARGUMENT', 'an aggregation must be over a structured query');
  const query = compileQuery(parent, structured);
  const reading = startReading(state, databaseOf(parent), consistencySelector);
  const { view, readTime, begun } = reading;
  reading.lockQuery(query);
  const { documents, skipped } = runQuery(view, query);
  state.counters.aggregationRun(documents.length + skipped);
  return [
    {
      result: { aggregateFields: { ...aggregate(documents, queryType.value.aggregations) } },
      transaction: begun ?? NO_TRANSACTION,
      readTime,
      explainMetrics: undefined,
    },
  ];
}
