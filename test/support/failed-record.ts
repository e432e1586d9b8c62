import type { FailedRecord } from '../../shared/letters/failed-record.ts';
import type { PushedMessage } from '../../shared/model/record.ts';
import { tableName } from '../../shared/model/table-name.ts';
import { recordOf } from './pushed-message.ts';

/** Stands in the row key, the value, the data, the attributes and the detail of every {@link failedRecord}. */
export const PLANTED = 'planted-secret';

/** A record that Bigtable refused, with {@link PLANTED} wherever row data can be. */
export function failedRecord(given: Partial<FailedRecord> = {}, message: Partial<PushedMessage> = {}): FailedRecord {
  const secret = Buffer.from(PLANTED);
  return {
    record: recordOf({ data: secret, attributes: { origin: PLANTED }, ...message }),
    destination: tableName('p', 'i', 't'),
    reason: 'rejected',
    entry: {
      rowKey: secret,
      mutations: [{ kind: 'setCell', family: 'f', qualifier: secret, timestampMicros: 0n, value: secret }],
    },
    summary: 'rejected because the mutation is invalid (INVALID_ARGUMENT)',
    detail: `INVALID_ARGUMENT: the value ${PLANTED} is not 8 bytes`,
    ...given,
  };
}
