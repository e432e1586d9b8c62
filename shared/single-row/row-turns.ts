import type { RowRequest } from '../model/row-request.ts';
import { formatTableName, type TableName } from '../model/table-name.ts';

/** Requests of one message for the same row, one after the other in the order of their records; other rows go at once. */
export class RowTurns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `work` when the row's work before it has settled, however that ended. */
  take<Result>(table: TableName, { request }: RowRequest, work: () => Promise<Result>): Promise<Result> {
    const row = `${formatTableName(table)}/${request.rowKey.toString('latin1')}`;
    const before = this.#last.get(row);
    const turn = before ? before.then(work, work) : work();
    this.#last.set(row, turn);
    return turn;
  }
}
