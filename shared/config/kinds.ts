import { bulkSink } from './kinds/bulk-sink.ts';
import type { Kind } from './kinds/kind.ts';
import { requestSink } from './kinds/request-sink.ts';
import { stagedSink } from './kinds/staged-sink.ts';
import type { PipelineKind } from './resolved.ts';

/** Every kind of pipeline there is. A new kind is one file beside `bulk-sink.ts`, its resolved type, and a line here. */
export const KINDS: Readonly<Record<PipelineKind, Kind>> = {
  'bulk-sink': bulkSink,
  'staged-sink': stagedSink,
  'request-sink': requestSink,
};

export const kindOf = (value: unknown): Kind | undefined =>
  typeof value === 'string' && Object.hasOwn(KINDS, value) ? KINDS[value as PipelineKind] : undefined;
