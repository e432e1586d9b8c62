import type { MarkedWrites } from '../../../shared/staged/write/marked-writes.ts';
import { decodeSegment } from '../../../shared/staged/envelope/segment.ts';
import type { TargetCheck } from '../../../shared/markers/target-check.ts';
import { writeEnvelopes } from '../../../shared/staged/write/write-envelopes.ts';

/** A check that was made already, as it is for all but the first writes of an instance. */
const CHECKED: Pick<TargetCheck, 'check' | 'forget'> = {
  check: () => Promise.resolve(undefined),
  forget: () => undefined,
};

/**
 * Drains payloads of segments as a committer does those of one work message: each is decoded, and all of its envelopes
 * wait for their turns at once. Rejects when one was not applied.
 */
export async function drainSegments(payloads: readonly Buffer[], writes: MarkedWrites): Promise<void> {
  const { signal } = new AbortController();
  await Promise.all(
    payloads.map(async (payload) => {
      const results = await writeEnvelopes(decodeSegment(payload), { writes, targets: CHECKED }, signal);
      const other = results.find(({ kind }) => kind !== 'applied');
      if (other) throw new Error(`an envelope was ${other.kind}`);
    }),
  );
}
