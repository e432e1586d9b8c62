import type { CommitWork } from '../work-message.ts';
import type { IdRange } from '../segment-id.ts';
import type { CommittingStore, StoredSegment } from '../ports.ts';

/** Payloads that one page of a message holds, by what is known of one; a larger segment comes alone. */
const PAGE_BYTES = 8 * 1024 * 1024;

/** Segments of a page: also where they are small a commit ends them together. */
const MAX_PAGE = 200;

/** Where nobody knows what one weighs: eight of the largest are a page. */
const BLIND_PAGE = 8;

/** Ranges of one message that are read beside each other. */
const MAX_RANGES_AT_ONCE = 8;

/**
 * Reads what a message asks for in pages that fit in memory, and has each handled. Rejects with the first failure, once
 * nothing of the message is running any more.
 */
export async function pagesOf(
  { ranges, segments, segmentBytes }: CommitWork,
  store: Pick<CommittingStore, 'readRange' | 'readSegments'>,
  signal: AbortSignal,
  handle: (page: readonly StoredSegment[]) => Promise<void>,
): Promise<void> {
  const atOnce = Math.max(1, Math.min(MAX_RANGES_AT_ONCE, ranges.length));
  const tasks = [
    ...ranges.map((range) => () => pagesOfRange(range, sizeOf(segmentBytes, atOnce), store, signal, handle)),
    ...chunks(segments, sizeOf(segmentBytes, 1)).map((ids) => async () => {
      const page = await store.readSegments(ids, signal);
      if (page.length > 0) await handle(page);
    }),
  ];
  const queue = tasks.values();
  const failures: unknown[] = [];
  const runner = async (): Promise<void> => {
    for (const task of queue) {
      if (failures.length > 0) return;
      await task().catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, runner));
  if (failures.length > 0) throw failures[0];
}

async function pagesOfRange(
  { from, to }: IdRange,
  firstSize: number,
  store: Pick<CommittingStore, 'readRange'>,
  signal: AbortSignal,
  handle: (page: readonly StoredSegment[]) => Promise<void>,
): Promise<void> {
  let size = firstSize;
  for (let next = from; next < to;) {
    const page = await store.readRange({ from: next, to }, size, signal);
    const last = page.at(-1);
    if (!last) return;
    await handle(page);
    if (page.length < size) return;
    // What stays, because it is unavailable, is not met again by this message.
    next = `${last.head.id}!`;
    size = sizeOf(page.reduce((sum, { payload }) => sum + payload.length, 0) / page.length, 1);
  }
}

const sizeOf = (segmentBytes: number, shares: number): number =>
  Math.max(
    1,
    Math.min(MAX_PAGE, Math.floor(segmentBytes > 0 ? PAGE_BYTES / segmentBytes / shares : BLIND_PAGE / shares)),
  );

const chunks = <Item>(items: readonly Item[], size: number): (readonly Item[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));
