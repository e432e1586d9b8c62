import type { RowEntry } from '../model/mutation.ts';
import { SERVER_TIME_MICROS } from '../model/mutation.ts';
import { rowKeyRule } from '../model/mutation-rules.ts';
import type { Status } from '../model/status.ts';

/** Tables count time in milliseconds: there is no other granularity. */
const GRANULARITY_MICROS = 1000n;

/**
 * The answer that every table would give to an entry, for what is certain without asking: its row key and the times of its
 * cells. Undefined where the service is to be asked. Pure. A refused entry refuses its whole request, so that asking costs
 * requests to narrow it down, for nothing.
 */
export function refusedUnsent({ rowKey, mutations }: RowEntry): Status | undefined {
  const rule = rowKeyRule(rowKey);
  if (rule !== undefined) return refusal(`the row key ${rule}`);
  // The cells of a record nearly always have one time.
  let checked: bigint | undefined;
  for (const mutation of mutations) {
    if (!('timestampMicros' in mutation) || mutation.timestampMicros === checked) continue;
    const { kind, timestampMicros } = mutation;
    if (timestampMicros === SERVER_TIME_MICROS && kind === 'setCell') continue;
    if (timestampMicros < 0n) return refusal(`a timestamp must not be negative, got ${timestampMicros}`);
    if (timestampMicros % GRANULARITY_MICROS !== 0n) {
      return refusal(`a timestamp must be a multiple of 1000 (whole milliseconds), got ${timestampMicros}`);
    }
    checked = timestampMicros;
  }
  return undefined;
}

const refusal = (rule: string): Status => ({
  code: 'INVALID_ARGUMENT',
  message: `not sent, because no table takes it: ${rule}`,
});
