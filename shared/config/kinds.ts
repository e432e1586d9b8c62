import { bulkSink } from './kinds/bulk-sink.ts';
import { changeStreamSource } from './kinds/change-stream-source.ts';
import type { Kind } from './kinds/kind.ts';
import { requestSink } from './kinds/request-sink.ts';
import { scanSource } from './kinds/scan-source.ts';
import { stagedSink } from './kinds/staged-sink.ts';

/** Every kind of pipeline there is. A new kind is one file beside `bulk-sink.ts` and a line here. */
export const KINDS = {
  'bulk-sink': bulkSink,
  'staged-sink': stagedSink,
  'request-sink': requestSink,
  'scan-source': scanSource,
  'change-stream-source': changeStreamSource,
} as const satisfies Readonly<Record<string, Kind>>;
