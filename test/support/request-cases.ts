import type { Mutation } from '../../shared/proto/google/bigtable/v2/data.ts';
import { setCell } from './bigtable-raw-client.ts';
import { shownInt64, type StoredRows } from './stored-rows.ts';

/** Write modes of single-row requests: records of the row `k` of table `t` (families `f` and `g`), and what they do. */

export interface RequestCase {
  readonly name: string;
  readonly mapping: Readonly<Record<string, unknown>>;
  readonly before?: readonly Mutation[];
  readonly records: readonly string[];
  /** Whether the predicate matched, or the cells that changed; one for each record. */
  readonly answers: readonly (boolean | readonly string[])[];
  /** The newest version of each column. */
  readonly after: StoredRows;
}

/** A cell of column `family:qualifier` from before. */
export const old = (column: string): Mutation => {
  const [family = '', qualifier = ''] = column.split(':');
  return setCell(family, qualifier, 'old');
};

const text = { families: { f: { columns: { s: 'string' } } } };
const state = { family: 'f', qualifier: 'state' };
export const REQUEST_CASES: readonly RequestCase[] = [
  {
    name: 'insert-if-absent: the first record makes the row, the second changes nothing',
    mapping: { writeMode: 'insert-if-absent', ...text },
    records: ['{"s":"first"}', '{"s":"second"}'],
    answers: [false, true],
    after: { k: { 'f:s': 'first' } },
  },
  {
    name: 'insert-if-absent: a cell of a family that is not declared makes the row there',
    mapping: { writeMode: 'insert-if-absent', ...text },
    before: [old('g:other')],
    records: ['{"s":"first"}'],
    answers: [true],
    after: { k: { 'g:other': 'old' } },
  },
  {
    name: 'replace-if-newest: an older record and one of the same time change nothing, a newer one replaces all',
    mapping: {
      writeMode: 'replace-if-newest',
      timestamp: { field: 'at', unit: 'millis' },
      families: { f: { columns: { s: 'string', t: { type: 'string', onNull: 'ignore' } } } },
    },
    before: [old('g:other')],
    records: ['{"at":5,"s":"5","t":"5"}', '{"at":4,"s":"4","t":"4"}', '{"at":5,"s":"again","t":"again"}', '{"at":6,"s":"6","t":null}'],
    answers: [false, true, true, false],
    after: { k: { 'f:s': '6', 'g:other': 'old' } },
  },
  {
    name: 'append: bytes go to the end of what is stored',
    mapping: { writeMode: 'append', families: { f: { columns: { s: 'string' } } } },
    records: ['{"s":"one,"}', '{"s":"two"}'],
    answers: [['f:s=one,'], ['f:s=one,two']],
    after: { k: { 'f:s': 'one,two' } },
  },
  {
    name: 'increment: amounts beyond 2^53 and negative ones are exact',
    mapping: { writeMode: 'increment', families: { f: { columns: { n: 'int64' } } } },
    records: ['{"n":9007199254740993}', '{"n":-9007199254740991}'],
    answers: [['f:n=\0\x20\0\0\0\0\0\x01'], ['f:n=\0\0\0\0\0\0\0\x02']],
    after: { k: { 'f:n': shownInt64(2n) } },
  },
  {
    name: 'conditional: the branch of the predicate is applied',
    mapping: {
      writeMode: 'conditional',
      conditional: {
        predicate: { type: 'latest-cell-value-equals', ...state, value: { field: 'from', type: 'int64' } },
        then: [{ type: 'set-cell', ...state, value: { field: 'to', type: 'int64' } }],
        otherwise: [{ type: 'set-cell', family: 'g', qualifier: 'refused', value: { field: 'to', type: 'string' } }],
      },
    },
    before: [setCell('f', 'state', Buffer.from([0, 0, 0, 0, 0, 0, 0, 46]))],
    records: ['{"from":46,"to":"47"}', '{"from":46,"to":"48"}'],
    answers: [true, false],
    after: { k: { 'f:state': shownInt64(47n), 'g:refused': '48' } },
  },
]; // prettier-ignore
