import type { MarkedWrites } from '../../../shared/staged/marked-writes.ts';
import { decodeSegment } from '../../../shared/staged/segment.ts';

/**
 * Drains payloads of segments as a committer does those of one work message: each is decoded, and all of its envelopes
 * wait for their turns at once. Rejects when one was not applied.
 *
 * @param onApplied told of every envelope.
 */
export async function drainSegments(
  payloads: readonly Buffer[],
  writes: MarkedWrites,
  onApplied: () => void = () => undefined,
): Promise<void> {
  const { signal } = new AbortController();
  await Promise.all(
    payloads.flatMap((payload) =>
      decodeSegment(payload).map(async (envelope) => {
        const { kind } = await writes.submit(envelope, signal);
        if (kind !== 'applied') throw new Error(`an envelope was ${kind}`);
        onApplied();
      }),
    ),
  );
}
