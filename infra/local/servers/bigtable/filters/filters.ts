import type { Random } from '../../../../../shared/base/random.ts';
import { RowFilter, type RowFilter_Condition } from '../../../../../shared/proto/google/bigtable/v2/data.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import type { Limits } from '../limits.ts';
import { liveCells, type RuleOf } from '../rows/gc.ts';
import { type ReadCell, compareCells, type Row } from '../rows/row.ts';
import type { Families } from '../rows/validate.ts';
import { columnRange, pattern, timestampRange, valueRange, type CellTest } from './cell-tests.ts';
import { cellsAround, namedColumns, type NamedColumns } from './named-columns.ts';

/**
 * Row filters. A filter takes the cells of one row, in the service's order, and gives those that pass, in the same
 * order; filters that see single cells are in `cell-tests.ts`. Pure, but for the randomness of row samples.
 */
export interface CompiledFilter {
  readonly pass: (rowKey: string, cells: readonly ReadCell[]) => readonly ReadCell[];
  /** When there are such: cells of other columns may be left out of `pass`, and it gives the same. */
  readonly columns: NamedColumns | undefined;
}

export interface FilterOptions {
  readonly limits: Limits;
  readonly random: Random;
  /** Whether `columns` is left open, whatever the filter names. */
  readonly scansRows: boolean;
}

/** A filter inside another one; what a sink catches goes past all its parents to the result. */
type Stage = (rowKey: string, cells: readonly ReadCell[], sink: ReadCell[]) => readonly ReadCell[];

interface Compiler extends FilterOptions {
  readonly families: Families;
  /** Whether a condition is around: it may not hold a sink. */
  readonly isInCondition: boolean;
  /** Filled by every filter by family or qualifier whose pattern is of literals. */
  readonly literals: Map<RowFilter['filter'], readonly string[]>;
}

const NOTHING: readonly ReadCell[] = [];

/**
 * Compiles a filter; none at all passes everything. Throws INVALID_ARGUMENT where the service refuses the filter and
 * NOT_FOUND where it names a family that the table does not have.
 */
export function compileFilter(
  filter: RowFilter | undefined,
  families: Families,
  options: FilterOptions,
): CompiledFilter {
  if (!filter) return { pass: (_rowKey, cells) => cells, columns: undefined };
  const size = RowFilter.encode(filter).finish().length;
  const { limits, random, scansRows } = options;
  if (size > limits.filterBytes) throw invalid(`has ${size} bytes serialized; it may not exceed ${limits.filterBytes}`);
  const literals = new Map<RowFilter['filter'], readonly string[]>();
  const stage = compile(filter, { limits, random, scansRows, families, isInCondition: false, literals });
  const pass: CompiledFilter['pass'] = (rowKey, cells) => {
    const sink: ReadCell[] = [];
    const passed = stage(rowKey, cells, sink);
    return sink.length === 0 ? passed : [...passed, ...sink].sort(compareCells);
  };
  return { pass, columns: scansRows ? undefined : namedColumns(filter, literals) };
}

/** What the filter passes of the row's cells that garbage collection leaves. To be used before the row changes. */
export function passingCells(
  { pass, columns }: CompiledFilter,
  row: Row,
  ruleOf: RuleOf,
  nowMicros: bigint,
): readonly ReadCell[] {
  const cells = columns ? cellsAround(row, columns) : row.cells;
  return pass(row.key, liveCells(cells, ruleOf, nowMicros));
}

function compile({ filter }: RowFilter, compiler: Compiler): Stage {
  switch (filter?.$case) {
    case 'chain':
      return chain(several('chain', filter.value.filters, compiler));
    case 'interleave':
      return interleave(several('interleave', filter.value.filters, compiler));
    case 'condition':
      return condition(filter.value, { ...compiler, isInCondition: true });
    case 'sink':
      if (compiler.isInCondition) throw invalid('sink cannot be used within a condition');
      requireTrue('sink', filter.value);
      return (_rowKey, cells, sink) => {
        for (const cell of cells) sink.push(cell);
        return NOTHING;
      };
    case 'passAllFilter':
      requireTrue('pass_all_filter', filter.value);
      return (_rowKey, cells) => cells;
    case 'blockAllFilter':
      requireTrue('block_all_filter', filter.value);
      return () => NOTHING;
    case 'rowKeyRegexFilter': {
      const { test } = pattern('row_key_regex_filter', filter.value);
      return (rowKey, cells) => (test(rowKey) ? cells : NOTHING);
    }
    case 'rowSampleFilter': {
      const share = filter.value;
      if (!(share > 0 && share < 1)) throw invalid(`row_sample_filter must be between 0 and 1, but is ${share}`);
      return (_rowKey, cells) => (compiler.random() < share ? cells : NOTHING);
    }
    case 'familyNameRegexFilter':
      return familyName(filter, compiler);
    case 'columnQualifierRegexFilter': {
      const { test, literals } = pattern('column_qualifier_regex_filter', filter.value);
      if (literals) compiler.literals.set(filter, literals);
      return only(({ qualifier }) => test(qualifier));
    }
    case 'columnRangeFilter':
      requireFamily(filter.value.familyName, compiler);
      return only(columnRange(filter.value));
    case 'timestampRangeFilter':
      return only(timestampRange(filter.value));
    case 'valueRegexFilter': {
      const { test } = pattern('value_regex_filter', filter.value);
      return only(({ value }) => test(value.toString('latin1')));
    }
    case 'valueRangeFilter':
      return only(valueRange(filter.value));
    case 'cellsPerRowOffsetFilter': {
      const skipped = count('cells_per_row_offset_filter', filter.value);
      return (_rowKey, cells) => cells.slice(skipped);
    }
    case 'cellsPerRowLimitFilter': {
      const kept = count('cells_per_row_limit_filter', filter.value);
      return (_rowKey, cells) => cells.slice(0, kept);
    }
    case 'cellsPerColumnLimitFilter':
      return perColumn(count('cells_per_column_limit_filter', filter.value));
    case 'stripValueTransformer':
      requireTrue('strip_value_transformer', filter.value);
      return (_rowKey, cells) => cells.map((cell) => ({ ...cell, value: NO_BYTES }));
    case 'applyLabelTransformer':
      return label(filter.value);
    case 'valueBitmaskFilter': {
      const { mask } = filter.value;
      return only(
        ({ value }) => value.length === mask.length && mask.every((bits, at) => (value[at]! & bits) === bits),
      );
    }
    case undefined:
      throw invalid('is empty: one of its fields must be set');
  }
}

const NO_BYTES = Buffer.alloc(0);

const only =
  (test: CellTest): Stage =>
  (_rowKey, cells) =>
    cells.every(test) ? cells : cells.filter(test);

const chain =
  (stages: readonly Stage[]): Stage =>
  (rowKey, cells, sink) =>
    stages.reduce((passed, stage) => (passed.length === 0 ? passed : stage(rowKey, passed, sink)), cells);

/** Each filter sees the same cells; what several pass appears as often as it passed. */
const interleave =
  (stages: readonly Stage[]): Stage =>
  (rowKey, cells, sink) =>
    stages.flatMap((stage) => stage(rowKey, cells, sink)).sort(compareCells);

/** The predicate only decides; the branch sees the cells that the predicate saw. No branch passes nothing. */
function condition({ predicateFilter, trueFilter, falseFilter }: RowFilter_Condition, compiler: Compiler): Stage {
  if (!predicateFilter) throw invalid('condition has no predicate_filter');
  const predicate = compile(predicateFilter, compiler);
  const whenTrue = trueFilter && compile(trueFilter, compiler);
  const whenFalse = falseFilter && compile(falseFilter, compiler);
  return (rowKey, cells, sink) => {
    const branch = predicate(rowKey, cells, sink).length > 0 ? whenTrue : whenFalse;
    return branch ? branch(rowKey, cells, sink) : NOTHING;
  };
}

function familyName(
  filter: Extract<RowFilter['filter'], { $case: 'familyNameRegexFilter' }>,
  compiler: Compiler,
): Stage {
  const expression = filter.value;
  if (expression.includes(':')) throw invalid('family_name_regex_filter must not contain ":"');
  const { test, literals } = pattern('family_name_regex_filter', Buffer.from(expression));
  if (literals?.length === 1) requireFamily(literals[0]!, compiler);
  if (literals) compiler.literals.set(filter, literals);
  return only(({ family }) => test(family));
}

/** The first `kept` cells of every column: its newest, with each copy that an interleave made counted. */
const perColumn =
  (kept: number): Stage =>
  (_rowKey, cells) => {
    let seen = 0;
    return cells.filter((cell, at) => {
      const before = cells[at - 1];
      seen = before?.family === cell.family && before.qualifier === cell.qualifier ? seen + 1 : 1;
      return seen <= kept;
    });
  };

function label(text: string): Stage {
  if (!/^[a-z0-9-]{1,15}$/.test(text))
    throw invalid(`apply_label_transformer must match [a-z0-9\\-]{1,15}, but is '${text}'`);
  return (_rowKey, cells) => cells.map((cell) => ({ ...cell, labels: [...(cell.labels ?? []), text] }));
}

function several(kind: 'chain' | 'interleave', filters: readonly RowFilter[], compiler: Compiler): Stage[] {
  if (filters.length < 2) throw invalid(`${kind} must contain at least two filters`);
  if (kind === 'chain' && filters.filter(appliesLabel).length > 1) {
    throw invalid('chain may contain no more than one apply_label_transformer');
  }
  return filters.map((each) => compile(each, compiler));
}

function appliesLabel({ filter }: RowFilter): boolean {
  if (filter?.$case === 'chain' || filter?.$case === 'interleave') return filter.value.filters.some(appliesLabel);
  if (filter?.$case !== 'condition') return filter?.$case === 'applyLabelTransformer';
  return [filter.value.trueFilter, filter.value.falseFilter].some((each) => each !== undefined && appliesLabel(each));
}

/** A filter that names one family, exactly, names one that the table has: otherwise the service answers NOT_FOUND. */
function requireFamily(family: string, { families }: Compiler): void {
  if (!families.has(family))
    throw new GrpcError('NOT_FOUND', "Error in field 'filter' : Requested column family not found.");
}

function count(field: string, value: number): number {
  if (value < 1) throw invalid(`${field} must be positive, but is ${value}`);
  return value;
}

function requireTrue(field: string, value: boolean): void {
  if (!value) throw invalid(`${field} must be true when it is set`);
}

const invalid = (problem: string): GrpcError =>
  new GrpcError('INVALID_ARGUMENT', `Error in field 'filter' : ${problem}`);
