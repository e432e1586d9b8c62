import { fileURLToPath } from 'node:url';
import { FAMILY, TABLE } from './rows.ts';

const SERIALIZER = fileURLToPath(new URL('functions/rows-serializer.ts', import.meta.url));

/** What the function in the stall case may hold. */
export const STALL_IN_FLIGHT_BYTES = 64 * 1024 * 1024;

const pipeline = (framing: 'single' | 'ndjson', more: object = {}): object => ({
  kind: 'bulk-sink',
  topic: 'rows',
  table: TABLE,
  serializer: { module: SERIALIZER },
  framing,
  ...more,
});

/** The pipelines of the bulk cases. A function is told by CONNECTOR_PIPELINE which one it serves. */
export const SINK_CONFIG = {
  pipelines: {
    single: pipeline('single'),
    many: pipeline('ndjson'),
    lines: {
      kind: 'bulk-sink',
      topic: 'rows',
      table: TABLE,
      framing: 'ndjson',
      mapping: { rowKey: '${key}', families: { [FAMILY]: { columns: { value: 'string' } } } },
      failurePolicy: 'dead-letter',
      deadLetter: { topic: 'projects/bench/topics/letters' },
    },
    stalled: pipeline('ndjson', {
      // Bytes are to be the bound that binds.
      writerOptions: { maxInFlightBytes: `${STALL_IN_FLIGHT_BYTES / 1024 / 1024}MiB`, maxInFlightEntries: 100_000 },
    }),
  },
};
