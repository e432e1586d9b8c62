import type { ResolvedFormat } from '../declared/resolved.ts';
import { jsonDecoder } from './json.ts';
import type { RecordDecoder } from './record-decoder.ts';

/** The decoder of a format. A format's library is imported when a pipeline first needs it, not at every cold start. */
export async function loadDecoder(format: ResolvedFormat): Promise<RecordDecoder> {
  switch (format.type) {
    case 'json':
      return jsonDecoder;
    case 'avro':
      return (await import('./avro.ts')).avroDecoder(format);
    case 'protobuf':
      return (await import('./protobuf.ts')).protobufDecoder(format);
  }
}
