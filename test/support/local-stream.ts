import {
  ChangeStream,
  type ChangeStreamOptions,
  type OpenRead,
} from '../../infra/local/servers/bigtable/change-stream/change-stream.ts';
import { type Nanos, type Span, spanOf } from '../../infra/local/servers/bigtable/change-stream/span.ts';
import type { OfferedToken } from '../../infra/local/servers/bigtable/change-stream/tokens.ts';
import type { ReadChangeStreamResponse } from '../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { Mutation } from '../../shared/proto/google/bigtable/v2/data.ts';

export const SECOND = 1_000_000_000n;
export const START: Nanos = 1_800_000_000n * SECOND;

export const localStream = (options: Partial<ChangeStreamOptions> = {}): ChangeStream =>
  new ChangeStream({ id: 's', createdAt: START, retention: 86_400n * SECOND, bytes: Infinity, ...options });

export const setOf = (value: Buffer | string, qualifier = 'q'): Mutation => ({
  mutation: {
    $case: 'setCell',
    value: {
      familyName: 'f',
      columnQualifier: Buffer.from(qualifier),
      timestampMicros: 1000n,
      value: Buffer.from(value),
    },
  },
});

/** Writes one cell of a row. */
export const write = (stream: ChangeStream, rowKey: string, now: Nanos, value = 'v', sourceCluster = 'c'): void => {
  stream.append({ rowKey, type: 'USER', sourceCluster, mutations: [setOf(value)] }, now);
};

/** Everything that the read has to say at this time. */
export function drain(read: OpenRead, now: Nanos): { responses: ReadChangeStreamResponse[]; end: string | undefined } {
  const responses: ReadChangeStreamResponse[] = [];
  for (;;) {
    const step = read.next(now);
    if (step.kind === 'response') responses.push(step.response);
    else return { responses, end: step.kind === 'end' ? step.status.code : undefined };
  }
}

/** Of a first message of a change: its row and cluster; of any other, its kind. */
export const gist = ({ streamRecord }: ReadChangeStreamResponse): string =>
  streamRecord?.$case === 'dataChange' ? streamRecord.value.rowKey.toString('latin1') : (streamRecord?.$case ?? '');

/** The token of the last response that has one; a close's are in {@link successors}. */
export function lastToken(responses: readonly ReadChangeStreamResponse[]): string | undefined {
  for (const { streamRecord } of responses.toReversed()) {
    if (streamRecord?.$case === 'dataChange' && streamRecord.value.done) return streamRecord.value.token;
    if (streamRecord?.$case === 'heartbeat') return streamRecord.value.continuationToken?.token;
  }
  return undefined;
}

/** The successors that a close names; undefined where the response is no close. */
export function successors({
  streamRecord,
}: ReadChangeStreamResponse): { readonly target: Span; readonly token: OfferedToken }[] | undefined {
  if (streamRecord?.$case !== 'closeStream') return undefined;
  const { continuationTokens, newPartitions } = streamRecord.value;
  return continuationTokens.map(({ partition, token }, at) => ({
    target: spanOf(newPartitions[at])!,
    token: { span: spanOf(partition)!, text: token },
  }));
}
