import { endWith, programArgument } from '../../support/program.ts';
import { drainSegments } from '../drain.ts';
import { cellOf, envelopeOf, keyOf, segmentsOf } from '../envelopes.ts';
import { openWrites } from '../marked-writes.ts';
import { ENVELOPES_PER_PUSH, PUSHES_AT_ONCE, type PushesArgument, type PushesResult } from './case.ts';
import { quantileOf, sortedNumbers } from '../../../../shared/base/quantile.ts';

/** Keeps the instance full: where one push ends the next begins. */
const { address, pushes } = programArgument() as PushesArgument;
const opened = openWrites(address);
const value = Buffer.alloc(100, 1);
const payloads = segmentsOf(
  Array.from({ length: PUSHES_AT_ONCE * ENVELOPES_PER_PUSH }, (_, row) => envelopeOf(row, keyOf(row), cellOf(value))),
  ENVELOPES_PER_PUSH,
);

await pushAll(PUSHES_AT_ONCE * 2);
const millis = sortedNumbers(await pushAll(pushes));
opened.close();
endWith({
  p50Millis: quantileOf(millis, 0.5) ?? Number.NaN,
  p95Millis: quantileOf(millis, 0.95) ?? Number.NaN,
} satisfies PushesResult);

async function pushAll(count: number): Promise<readonly number[]> {
  const took: number[] = [];
  let begun = 0;
  await Promise.all(
    payloads.map(async (payload) => {
      while (begun < count) {
        begun += 1;
        const startedAt = performance.now();
        await drainSegments([payload], opened.writes);
        took.push(performance.now() - startedAt);
      }
    }),
  );
  return took;
}
