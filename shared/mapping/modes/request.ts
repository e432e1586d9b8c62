import type { ResolvedWrite } from '../declared/resolved.ts';
import { conditionalRequest, readModifyWriteRequest, type ReadModifyWriteRule } from '../../model/conditional.ts';
import { chain, familyEquals, interleave, type RowFilter, timestampRange } from '../../model/filter/filter.ts';
import type { Mutation } from '../../model/mutation.ts';
import { type Column, compileFamilies, type Family } from '../rows/columns.ts';
import type { DecodedRecord, Settle } from '../values/fields.ts';
import { refuseValue } from '../values/field-value.ts';
import { compileTimestamp } from '../rows/timestamp.ts';
import { cellMutations, type CellWriter, setCell } from './cells.ts';
import { checkCount, type WriteOf } from './write.ts';

type RowMode = Extract<ResolvedWrite, { mode: 'aggregate' | 'insert-if-absent' | 'replace-if-newest' }>;
type RuleMode = Extract<ResolvedWrite, { mode: 'append' | 'increment' }>;

/** Rows of these modes are new, or their families were just cleared: nothing is left to delete. */
const WRITER: CellWriter = { append: setCell, clearsFamilies: false };

/** `insert-if-absent`: the cells are set when the row holds none at all; otherwise nothing happens. */
export function compileInsertIfAbsent(write: RowMode, settle: Settle): WriteOf {
  const families = compileFamilies(write.families, settle);
  const timestampOf = compileTimestamp(write.timestamp, settle);
  return (record, rowKey, context) => {
    const otherwise = cellMutations(families, WRITER, record, timestampOf(record, context));
    checkCount(otherwise, 'mutations');
    return { kind: 'conditional', request: conditionalRequest({ rowKey, then: [], otherwise }) };
  };
}

/**
 * `replace-if-newest`: unless a declared family holds a cell as new as the record, all declared families are deleted
 * and the record's cells set. Records that arrive late or twice change nothing. A deletion leaves no trace of its time,
 * so a late record brings a deleted row back; the mode therefore takes no operation.
 */
export function compileReplaceIfNewest(write: RowMode, settle: Settle): WriteOf {
  const families = compileFamilies(write.families, settle);
  const timestampOf = compileTimestamp(write.timestamp, settle);
  const deletions = families.map(({ family }): Mutation => ({ kind: 'deleteFromFamily', family }));
  const declared = anyFamily(families);
  return (record, rowKey, context) => {
    const timestampMicros = timestampOf(record, context);
    const cells = cellMutations(families, WRITER, record, timestampMicros);
    checkCount(cells, 'mutations');
    const otherwise = checkCount([...deletions, ...cells], 'mutations');
    const predicate = chain(declared, timestampRange(timestampMicros));
    return { kind: 'conditional', request: conditionalRequest({ rowKey, predicate, then: [], otherwise }) };
  };
}

function anyFamily(families: readonly Family[]): RowFilter {
  const filters = families.map(({ family }) => familyEquals(family));
  const [only] = filters;
  return only && filters.length === 1 ? only : interleave(...filters);
}

/** `append` and `increment`: one rule for each column that is not null, in declared order. */
export function compileRules({ mode, families: declared }: RuleMode, settle: Settle): WriteOf {
  const families = compileFamilies(declared, settle);
  const ruleOf = mode === 'append' ? appendRule : incrementRule;
  return (record, rowKey) => {
    const present = families.filter((family) => family.isPresent(record));
    const rules = present.flatMap(({ columns }) => columns.flatMap((column) => ruleOf(column, record) ?? []));
    checkCount(rules, 'rules');
    return { kind: 'readModifyWrite', request: readModifyWriteRequest({ rowKey, rules }) };
  };
}

function appendRule(column: Column, record: DecodedRecord): ReadModifyWriteRule | undefined {
  const value = column.change(record);
  if (!Buffer.isBuffer(value)) return undefined;
  if (value.length === 0) return refuseValue(column.label, 'must not be empty to be appended', '');
  return { kind: 'append', family: column.family, qualifier: column.qualifier, value };
}

function incrementRule(column: Column, record: DecodedRecord): ReadModifyWriteRule | undefined {
  const value = column.change(record);
  if (!Buffer.isBuffer(value)) return undefined;
  // The type of the column is int64, so its bytes are the amount.
  return { kind: 'increment', family: column.family, qualifier: column.qualifier, amount: value.readBigInt64BE() };
}
