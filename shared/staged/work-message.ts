/**
 * The message of the internal topic that asks a committer to drain segments. Its data is JSON; the version is checked,
 * so that a message of an older or newer deployment is told apart from a broken one. Pure.
 */

/** Segments of one checkpoint to drain. */
export interface CommitWork {
  readonly pipeline: string;
  readonly checkpoint: number;
  readonly segments: readonly string[];
}

const VERSION = 1;

/** The bytes to publish. */
export const encodeWork = ({ pipeline, checkpoint, segments }: CommitWork): Buffer =>
  Buffer.from(JSON.stringify({ version: VERSION, pipeline, checkpoint, segments }));

/** The work in a message, or undefined where the data is no work message of this version. */
export function decodeWork(data: Buffer): CommitWork | undefined {
  let value: unknown;
  try {
    value = JSON.parse(data.toString('utf8'));
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { version, pipeline, checkpoint, segments } = value as Readonly<Record<string, unknown>>;
  const isWork =
    version === VERSION && typeof pipeline === 'string' && Number.isSafeInteger(checkpoint) && isListOfIds(segments);
  return isWork ? { pipeline, checkpoint: checkpoint as number, segments } : undefined;
}

const isListOfIds = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length > 0 && value.every((id) => typeof id === 'string' && id !== '');
