import { ConnectorError } from '../base/errors.ts';
import type { Status } from './status.ts';
import { formatTableName, type TableName } from './table-name.ts';

/** A call of the table admin API failed. It may be tried again. */
export class TableAdminError extends ConnectorError {
  override readonly name = 'TableAdminError';
  readonly status: Status;

  constructor(call: string, table: TableName, status: Status) {
    super(`${call} on ${formatTableName(table)} answered ${status.code}: ${status.message}`);
    this.status = status;
  }
}
