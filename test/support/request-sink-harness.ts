import { startRequestSink } from '../../functions/request-sink.ts';
import type { ColumnFamily } from '../../shared/proto/google/bigtable/admin/v2/table.ts';
import { encodeRowRequestDocument } from '../../shared/single-row/forms/documents.ts';
import type { RowRequest, RowRequestDocument } from '../../shared/model/row-request.ts';
import { createTable } from './bigtable-raw-client.ts';
import { createPulledTopic, type PulledTopic } from './pulled-topic.ts';
import { type SinkHarness, type SinkOptions, startSink } from './sink-harness.ts';

export const RESULTS_TOPIC = 'projects/p/topics/results';

export interface RequestSinkOptions {
  readonly pipeline?: SinkOptions['pipeline'];
  /** Families of the table `t`. Default: `f`, `g` and the markers' `m`. */
  readonly families?: Readonly<Record<string, Partial<ColumnFamily>>>;
  /** The Bigtable of another harness, which keeps it, with its table. */
  readonly bigtable?: SinkOptions['bigtable'];
}

export interface RequestSinkHarness extends SinkHarness {
  readonly results: PulledTopic;
}

/** One instance of the request sink with real edges: requests in their JSON form, results and dead letters kept. */
export async function startRequests(options: RequestSinkOptions = {}): Promise<RequestSinkHarness> {
  const { pipeline, families = { f: {}, g: {}, m: {} }, bigtable } = options;
  const sink = await startSink({
    start: startRequestSink,
    families: null,
    deadLetters: 'topic',
    pipeline: { kind: 'request-sink', serializer: 'request', resultsTopic: RESULTS_TOPIC, ...pipeline },
    ...(bigtable && { bigtable }),
  });
  try {
    const results = await createPulledTopic(sink.deadLetters?.pubsub.address ?? '', RESULTS_TOPIC);
    if (!bigtable) await createTable(sink.client, 't', families);
    return {
      ...sink,
      results,
      async [Symbol.asyncDispose]() {
        await sink[Symbol.asyncDispose]();
        results.close();
      },
    };
  } catch (error) {
    await sink[Symbol.asyncDispose]();
    throw error;
  }
}

/** The data of a message that holds this request. */
export const requestData = (request: RowRequest, more: Omit<RowRequestDocument, 'request'> = {}): Buffer =>
  encodeRowRequestDocument({ request, ...more }, 'json');
