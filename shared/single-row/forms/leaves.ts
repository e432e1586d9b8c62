import { BYTES_JSON, BYTES_RULE, bytesWhere, int64Where, leaf, readBytes, textWhere } from '../../forms/leaves.ts';
import { aggregateTimeRule, cellTimeRule, rowKeyRule } from '../../model/mutation-rules.ts';
import { MAX_CORRELATION_ID_BYTES } from '../../model/row-request.ts';
import { correlationIdRule, tableRule } from './rules.ts';

/** The values that only a request has. Pure. */

export const rowKey = bytesWhere(rowKeyRule);

/** Appending nothing is refused. */
export const appended = bytesWhere((value) => (value.length === 0 ? 'must not be empty, got no byte' : undefined));

/** A value of a cell, with whether it was written as an integer. */
export const cellValue = leaf({
  rule: BYTES_RULE,
  json: BYTES_JSON,
  read: (json) => {
    const value = readBytes(json);
    return value && { value, isCounter: typeof json === 'object' && json !== null && 'int64' in json };
  },
});

/** −1 is the server's time. Microseconds of whole milliseconds, never rounded. */
export const cellTime = int64Where(cellTimeRule);
export const aggregateTime = int64Where(aggregateTimeRule);

export const table = textWhere(tableRule, { minLength: 1 });
export const correlationId = textWhere(correlationIdRule, { minLength: 1, maxLength: MAX_CORRELATION_ID_BYTES });
