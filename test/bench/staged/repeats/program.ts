import { CheckAndMutateRowResponse } from '../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { Envelope } from '../../../../shared/staged/envelope/envelope.ts';
import { endWith, programArgument } from '../../support/program.ts';
import { openWrites, REQUESTS_IN_FLIGHT } from '../marked-writes.ts';
import { envelopesOfRow, type RepeatsArgument, type RepeatsResult } from './ways.ts';

/** Writes envelopes of one row, some of which are applied before, in one of the ways: a warm-up, then the measured part. */
const { way, address, envelopes, percentBefore, otherMarkers } = programArgument() as RepeatsArgument;
const { writes, send, metrics } = openWrites(address);
/** They wait for each other at the row, and are not to be given up. */
const PATIENCE_MILLIS = 300_000;
const { signal } = new AbortController();

await writes.submit(envelopesOfRow('hot', 10_000_000, otherMarkers), signal);
// A drain of a tenth of a second is over before it is compiled, and a deployed one is not.
const WARM_UPS = ['warm-1', 'warm-2', 'warm-3', 'warm-4', 'warm-5'];
for (const row of [...WARM_UPS, 'hot']) {
  const before = envelopesOfRow(row, 0, envelopes).filter((_, index) => (index * 7919) % 100 < percentBefore);
  await writes.submit(before, signal);
}
const write = way === 'together' ? together : each;
for (const row of WARM_UPS) await write(envelopesOfRow(row, 0, envelopes));

const measured = envelopesOfRow('hot', 0, envelopes);
metrics.snapshot();
const startedAt = performance.now();
const { requests, repeats } = await write(measured);
const millis = performance.now() - startedAt;
const expected = measured.filter((_, index) => (index * 7919) % 100 < percentBefore).length;
if (repeats !== expected) throw new Error(`${repeats} of ${expected} were found to be there`);
endWith({ envelopesPerSecond: (envelopes * 1000) / millis, requests } satisfies RepeatsResult);

interface Written {
  readonly requests: number;
  readonly repeats: number;
}

async function together(given: readonly Envelope[]): Promise<Written> {
  metrics.snapshot();
  const results = await writes.submit(given, signal);
  return {
    requests: metrics.snapshot().distributions.rowRequestLatency?.count ?? 0,
    repeats: results.filter(({ kind }) => kind === 'deduplicated').length,
  };
}

async function each(given: readonly Envelope[]): Promise<Written> {
  let next = 0;
  let repeats = 0;
  const sender = async (): Promise<void> => {
    for (let envelope = given[next++]; envelope; envelope = given[next++]) {
      const { table, appProfileId, request } = envelope;
      const call = { table, appProfileId, request, timeoutMillis: PATIENCE_MILLIS, signals: [] };
      const reply = await send({ method: 'CheckAndMutateRow', ...call });
      if (reply.kind === 'failed') throw new Error(reply.status.message);
      if (CheckAndMutateRowResponse.decode(reply.answer).predicateMatched) repeats += 1;
    }
  };
  await Promise.all(Array.from({ length: REQUESTS_IN_FLIGHT }, sender));
  return { requests: given.length, repeats };
}
