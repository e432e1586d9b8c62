import { memberPath, type Report } from './problems.ts';
import { resolveConditional } from './resolve-conditional.ts';
import { resolveFamilies } from './resolve-families.ts';
import type { ResolvedFamily, ResolvedOperation, ResolvedTimestamp, ResolvedWrite, RowOperation } from './resolved.ts';
import { futureBound } from './resolve-conditional-parts.ts';
import type { MappingInput } from './schema/mapping.ts';
import { carries, WRITE_MODES } from './write-modes.ts';

type OperationInput = NonNullable<MappingInput['operation']>;
type ActionInput = OperationInput['values'][string];

/** Resolves what a record does to its row: the write mode, and what that mode carries. */
export function resolveWrite(input: MappingInput, path: string, report: Report): ResolvedWrite | undefined {
  const mode = input.writeMode ?? 'upsert';
  const refused: readonly (keyof MappingInput)[] = WRITE_MODES[mode].refuses;
  for (const name of refused) {
    if (input[name] !== undefined)
      report.add(memberPath(path, name), `does not apply to the mode ${mode}`, input[name]);
  }
  if (carries(mode, 'conditional')) {
    const conditionalPath = memberPath(path, 'conditional');
    if (!input.conditional) report.add(conditionalPath, 'is needed in the mode conditional', undefined);
    const conditional = input.conditional && resolveConditional(input.conditional, conditionalPath, report);
    return conditional && { mode, conditional };
  }
  const families = resolveFamilies(input, mode, path, report);
  if (carries(mode, 'families')) return { mode, families };
  const timestamp = resolveTimestamp(input.timestamp, memberPath(path, 'timestamp'), report);
  if (!timestamp) return undefined;
  if (carries(mode, 'cells')) return { mode, families, timestamp };
  const operation =
    input.operation && resolveOperation(input.operation, families, memberPath(path, 'operation'), report);
  return {
    mode,
    families,
    timestamp,
    ...(operation && { operation }),
    rowDelete: input.operation?.rowDelete ?? 'row',
    columnDeletes: input.columnDeletes ?? 'up-to-timestamp',
  };
}

function resolveTimestamp(
  input: MappingInput['timestamp'],
  path: string,
  report: Report,
): ResolvedTimestamp | undefined {
  if (input === undefined || typeof input === 'string') return { from: 'publishTime' };
  const { unit, truncateToMillis, onNull, maxFuture } = input;
  const field = report.field(memberPath(path, 'field'), input.field);
  return (
    field && {
      from: 'field',
      field,
      unit,
      truncateToMillis: truncateToMillis ?? false,
      onNull: onNull ?? 'reject',
      ...futureBound(maxFuture),
    }
  );
}

/** Resolves which value of the operation field writes, deletes or skips. Deletes name declared families only. */
function resolveOperation(
  input: OperationInput,
  families: readonly ResolvedFamily[],
  path: string,
  report: Report,
): ResolvedOperation | undefined {
  const field = report.field(memberPath(path, 'field'), input.field);
  const valuesPath = memberPath(path, 'values');
  const declared = families.map(({ family }) => family);
  const values = Object.entries(input.values).flatMap(([value, action]) => {
    const operation = resolveAction(action, declared, memberPath(valuesPath, value), report);
    return operation ? [[value, operation] as const] : [];
  });
  if (Object.keys(input.values).length === 0) report.add(valuesPath, 'must list at least one value', input.values);
  return field && { field, values: Object.fromEntries(values), onMissing: input.onMissing ?? 'reject' };
}

function resolveAction(
  input: ActionInput,
  declared: readonly string[],
  path: string,
  report: Report,
): RowOperation | undefined {
  if (typeof input === 'string') return { kind: input };
  const { deleteFamilies, deleteColumns } = input;
  const checkFamily = (family: string, at: string): void => {
    if (!declared.includes(family)) report.add(at, `must be a declared family (${declared.join(', ')})`, family);
  };
  if ((deleteFamilies === undefined) === (deleteColumns === undefined)) {
    report.add(path, 'must have exactly one of deleteFamilies and deleteColumns', input);
    return undefined;
  }
  for (const [index, family] of (deleteFamilies ?? []).entries()) {
    checkFamily(family, memberPath(path, 'deleteFamilies', index));
  }
  if (deleteFamilies !== undefined) return { kind: 'delete-families', families: deleteFamilies };
  const columns = (deleteColumns ?? []).map((column, index) => {
    const at = memberPath(path, 'deleteColumns', index);
    // A family holds no colon, so the first one ends it.
    const colon = column.indexOf(':');
    if (colon === -1) report.add(at, 'must be family:qualifier', column);
    else checkFamily(column.slice(0, colon), at);
    return { family: column.slice(0, colon), qualifier: column.slice(colon + 1) };
  });
  return { kind: 'delete-columns', columns };
}
