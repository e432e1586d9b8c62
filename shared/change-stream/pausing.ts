import type { ChangeStreamStatusStore } from './ports.ts';
import type { Source, SourceStatus } from './source.ts';

/** A person pauses a source, and lets it go on. Positions stay as they are. */

export type PausingOutcome =
  /** Written. */
  | { readonly kind: 'changed'; readonly before: SourceStatus; readonly source: Source }
  /** It was so before, or is on its way to be: nothing was written. */
  | { readonly kind: 'unchanged'; readonly source: Source }
  /** It ended or was stopped, and is left so. */
  | { readonly kind: 'refused'; readonly source: Source }
  /** No coordinator has started it yet. */
  | { readonly kind: 'unknown' }
  /** Others wrote it before every try. */
  | { readonly kind: 'busy' };

export type Wish = 'pause' | 'resume';

/** A coordinator writes a source a few times a minute, so that a second try mostly comes through. */
const MAX_TRIES = 10;

/**
 * Writes the source as it was read, or reads and decides again. Applied a second time, by anybody, it writes nothing.
 */
export async function pauseOrResume(
  wish: Wish,
  store: Pick<ChangeStreamStatusStore, 'readPipeline' | 'write'>,
  signal: AbortSignal,
): Promise<PausingOutcome> {
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const read = await store.readPipeline(signal);
    if (!read) return { kind: 'unknown' };
    const { value, version } = read;
    const status = statusAfter(wish, value);
    if (status === undefined) return { kind: 'refused', source: value };
    if (status === value.status) return { kind: 'unchanged', source: value };
    const source = { ...value, status, commits: value.commits + 1 };
    const result = await store.write({ version, value: source }, signal);
    if (result === 'committed') return { kind: 'changed', before: value.status, source };
  }
  return { kind: 'busy' };
}

/** Undefined: the wish means nothing to a source that is so. Pure. */
export function statusAfter(wish: Wish, source: Pick<Source, 'status' | 'startTime'>): SourceStatus | undefined {
  const { status, startTime } = source;
  if (status === 'done' || status === 'stopped') return undefined;
  if (wish === 'pause') return 'paused';
  if (status !== 'paused') return status;
  return startTime === undefined ? 'starting' : 'reading';
}
