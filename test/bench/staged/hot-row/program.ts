import { CheckAndMutateRowResponse } from '../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { Envelope } from '../../../../shared/staged/envelope/envelope.ts';
import { endWith, programArgument } from '../../support/program.ts';
import { drainSegments } from '../drain.ts';
import { segmentsOf } from '../envelopes.ts';
import { openWrites, REQUEST_TIMEOUT_MILLIS, REQUESTS_IN_FLIGHT } from '../marked-writes.ts';
import { hotEnvelopes, type HotRowArgument, type HotRowResult } from './ways.ts';

/** Writes envelopes of a hot row in one of the ways: a warm-up on another row, then the measured part. */
const { way, address, warmUpEnvelopes, envelopes } = programArgument() as HotRowArgument;
const { writes, send, metrics } = openWrites(address);
const ENVELOPES_PER_SEGMENT = 2000;

let requests = 0;
const write = way === 'drain' ? drain : sendEach;
await write(hotEnvelopes(0, warmUpEnvelopes, 'warm'))();
metrics.snapshot();
requests = 0;

const measured = write(hotEnvelopes(warmUpEnvelopes, warmUpEnvelopes + envelopes, 'hot'));
const cpuBefore = process.cpuUsage();
const startedAt = performance.now();
await measured();
const millis = performance.now() - startedAt;
const { user, system } = process.cpuUsage(cpuBefore);
endWith({
  envelopesPerSecond: (envelopes * 1000) / millis,
  cpuMicrosPerEnvelope: (user + system) / envelopes,
  requests: requests + (metrics.snapshot().distributions.rowRequestLatency?.count ?? 0),
} satisfies HotRowResult);

function drain(given: readonly Envelope[]): () => Promise<void> {
  const payloads = segmentsOf(given, ENVELOPES_PER_SEGMENT);
  return () => drainSegments(payloads, writes);
}

/** The stored bytes as they are, 100 at a time in the order in which they were staged. */
function sendEach(given: readonly Envelope[]): () => Promise<void> {
  let next = 0;
  const sender = async (): Promise<void> => {
    for (let envelope = given[next++]; envelope; envelope = given[next++]) {
      const { table, appProfileId, request } = envelope;
      const call = { table, appProfileId, request, timeoutMillis: REQUEST_TIMEOUT_MILLIS, signals: [] };
      const reply = await send({ method: 'CheckAndMutateRow', ...call });
      requests += 1;
      if (reply.kind === 'failed') throw new Error(reply.status.message);
      if (CheckAndMutateRowResponse.decode(reply.answer).predicateMatched) throw new Error('an envelope was there');
    }
  };
  return async () => {
    await Promise.all(Array.from({ length: REQUESTS_IN_FLIGHT }, sender));
  };
}
