import { OrderedIndex } from '../../base/ordered-index.ts';
import type { Row } from './row.ts';

/** The rows of a table, by key and in key order. A row that stays empty must be taken out again. */
export class RowIndex extends OrderedIndex<Row> {
  constructor() {
    super((key) => ({ key, cells: [] }));
  }
}
