import type { IdRange } from './segment-id.ts';

/**
 * The message of the internal topic that asks a committer to drain segments. Its data is JSON; the version is checked,
 * so that a message of an older or newer deployment is told apart from a broken one. Pure.
 */

/** What one message asks for. Whatever is in the ranges when it is handled belongs to it. */
export interface CommitWork {
  readonly pipeline: string;
  readonly ranges: readonly IdRange[];
  /** Single segments, by id. */
  readonly segments: readonly string[];
  /** Rests to try again, by id. */
  readonly rests: readonly string[];
  /** About what the payload of one segment weighs, by which a committer reads them; 0 where nobody knows. */
  readonly segmentBytes: number;
}

const VERSION = 2;

/** Of the deployments before: `{checkpoint, segments}`, which names segments of the format before. */
const FORMER_VERSION = 1;

/** The bytes to publish. */
export const encodeWork = ({ pipeline, ranges, segments, rests, segmentBytes }: CommitWork): Buffer =>
  Buffer.from(
    JSON.stringify({
      version: VERSION,
      pipeline,
      ranges: ranges.map(({ from, to }) => [from, to]),
      segments,
      rests,
      segmentBytes,
    }),
  );

/** The work in a message, or undefined where the data is no work message of these versions. */
export function decodeWork(data: Buffer): CommitWork | undefined {
  let value: unknown;
  try {
    value = JSON.parse(data.toString('utf8'));
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { version, pipeline, ranges, segments, rests, segmentBytes } = value as Readonly<Record<string, unknown>>;
  if (typeof pipeline !== 'string' || !isListOf(segments, isId)) return undefined;
  if (version === FORMER_VERSION) return { pipeline, ranges: [], segments, rests: [], segmentBytes: 0 };
  const isWork =
    version === VERSION &&
    isListOf(ranges, isRange) &&
    isListOf(rests, isId) &&
    typeof segmentBytes === 'number' &&
    segmentBytes >= 0;
  if (!isWork) return undefined;
  return { pipeline, ranges: ranges.map(([from, to]) => ({ from, to })), segments, rests, segmentBytes };
}

const isListOf = <Item>(value: unknown, isItem: (item: unknown) => item is Item): value is readonly Item[] =>
  Array.isArray(value) && value.every(isItem);

/** A document's id: no slash, and neither of the two that are taken. */
const isId = (value: unknown): value is string =>
  typeof value === 'string' && /^[^/]{1,200}$/.test(value) && value !== '.' && value !== '..';

const isRange = (value: unknown): value is readonly [string, string] =>
  Array.isArray(value) && value.length === 2 && isId(value[0]) && isId(value[1]) && value[0] < value[1];
