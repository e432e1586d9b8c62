import { MAX_QUALIFIER_BYTES } from '../../model/mutation.ts';
import { resolveCellFormat } from './cell-format.ts';
import { memberPath, type Report } from './problems.ts';
import type { FieldReference, ResolvedColumn, ResolvedDynamicColumns, ResolvedFamily } from './resolved.ts';
import type { MappingInput } from './schema/mapping.ts';
import { type ColumnMode, factsOf, modesThat, type NullMode } from './write-modes.ts';

type FamilyInput = NonNullable<MappingInput['families']>[string];
type ColumnInput = NonNullable<FamilyInput['columns']>[string];
type DynamicInput = NonNullable<FamilyInput['dynamic']>;

/** Bigtable's rule for the name of a family. */
const FAMILY_NAME = /^[_a-zA-Z0-9][-_.a-zA-Z0-9]{0,63}$/;

/** Resolves the families of a mode that writes declared columns. */
export function resolveFamilies(
  input: MappingInput,
  mode: ColumnMode,
  path: string,
  report: Report,
): readonly ResolvedFamily[] {
  const familiesPath = memberPath(path, 'families');
  if (input.onNull !== undefined) checkNullMode(input.onNull, mode, memberPath(path, 'onNull'), report);
  const families = Object.entries(input.families ?? {}).map(([family, options]) =>
    resolveFamily(family, options, { mode, mapping: input, path: memberPath(familiesPath, family) }, report),
  );
  const columns = Object.values(input.families ?? {}).some(
    ({ columns = {}, dynamic }) => dynamic !== undefined || Object.keys(columns).length > 0,
  );
  if (!columns) report.add(familiesPath, 'must declare at least one column', input.families);
  return families;
}

interface Place {
  readonly mode: ColumnMode;
  readonly mapping: MappingInput;
  readonly path: string;
}

function resolveFamily(family: string, input: FamilyInput, place: Place, report: Report): ResolvedFamily {
  const { mode, path } = place;
  if (!FAMILY_NAME.test(family)) {
    report.add(path, 'a family must be named by 1 to 64 letters, digits, "_", "-" and "."', family);
  }
  const { isAggregate = false } = factsOf(mode);
  if (isAggregate && input.aggregate === undefined) {
    report.add(memberPath(path, 'aggregate'), `every family needs it in the mode ${mode}`, undefined);
  }
  if (!isAggregate && input.aggregate !== undefined) {
    report.add(memberPath(path, 'aggregate'), `does not apply to the mode ${mode}`, input.aggregate);
  }
  if (input.columns && input.dynamic) {
    report.add(memberPath(path, 'dynamic'), 'excludes columns of the same family', input.dynamic);
  }
  const within = input.field === undefined ? undefined : report.field(memberPath(path, 'field'), input.field);
  if (within && within.from !== 'payload') {
    report.add(memberPath(path, 'field'), 'must be an object of the payload', input.field);
  }
  const columns = Object.entries(input.columns ?? {}).flatMap(([qualifier, column]) => {
    const at = { ...place, path: memberPath(path, 'columns', qualifier) };
    return resolveColumn(qualifier, column, within, at, report) ?? [];
  });
  const dynamic =
    input.dynamic && resolveDynamic(input.dynamic, within, { ...place, path: memberPath(path, 'dynamic') }, report);
  return {
    family,
    columns,
    ...(within && { within }),
    ...(dynamic && { dynamic }),
    ...(input.aggregate && { aggregate: input.aggregate }),
  };
}

function resolveColumn(
  qualifier: string,
  input: ColumnInput,
  within: FieldReference | undefined,
  place: Place,
  report: Report,
): ResolvedColumn | undefined {
  const { path } = place;
  const options = typeof input === 'string' ? { type: input } : input;
  if (Buffer.byteLength(qualifier) > MAX_QUALIFIER_BYTES || !qualifier.isWellFormed()) {
    report.add(path, `a qualifier must be well-formed text of at most ${MAX_QUALIFIER_BYTES} bytes`, qualifier);
  }
  const field =
    options.field === undefined
      ? report.named(path, qualifier, within)
      : report.field(memberPath(path, 'field'), options.field, within);
  const cell = resolveCell(options, typeof input === 'string' ? path : memberPath(path, 'type'), place, report);
  return field && cell && { qualifier, field, ...cell };
}

function resolveDynamic(
  input: DynamicInput,
  within: FieldReference | undefined,
  place: Place,
  report: Report,
): ResolvedDynamicColumns | undefined {
  const { mode, path } = place;
  if (!factsOf(mode).isDynamic) {
    const modes = modesThat(({ isDynamic }) => isDynamic === true);
    report.add(path, `applies to the modes ${modes.join(', ')} only, not to ${mode}`, input);
  }
  const field = report.field(memberPath(path, 'field'), input.field, within);
  if (field && field.from !== 'payload') {
    report.add(memberPath(path, 'field'), 'must be an object of the payload', input.field);
  }
  const cell = resolveCell(input, memberPath(path, 'type'), place, report);
  return field && cell && { field, ...cell, update: input.update ?? 'merge' };
}

/** What fixed and dynamic columns have in common: the type of a cell and what becomes of nulls. */
function resolveCell(
  input: Exclude<ColumnInput, string>,
  typePath: string,
  { mode, mapping, path }: Place,
  report: Report,
): Pick<ResolvedColumn, 'format' | 'onNull' | 'onMissing'> | undefined {
  const format = resolveCellFormat(input, { path, typePath, nullString: mapping.nullString ?? 'null' }, report);
  const { types, nulls } = factsOf(mode);
  if (format && types && !types.some((type) => type === format.type.kind)) {
    report.add(typePath, `must be one of ${types.join(', ')} in the mode ${mode}`, input.type);
  }
  if (types && input.encoding !== undefined) {
    report.add(memberPath(path, 'encoding'), `does not apply to the mode ${mode}`, input.encoding);
  }
  if (input.onNull !== undefined) checkNullMode(input.onNull, mode, memberPath(path, 'onNull'), report);
  const [defaultMode = 'encode'] = nulls;
  return (
    format && {
      format,
      onNull: input.onNull ?? mapping.onNull ?? defaultMode,
      onMissing: input.onMissing ?? mapping.onMissing ?? 'reject',
    }
  );
}

function checkNullMode(onNull: NullMode, mode: ColumnMode, path: string, report: Report): void {
  const modes = factsOf(mode).nulls;
  if (!modes.includes(onNull)) report.add(path, `must be one of ${modes.join(', ')} in the mode ${mode}`, onNull);
}
