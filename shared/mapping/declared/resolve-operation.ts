import { memberPath, type Report } from './problems.ts';
import type { ResolvedFamily, ResolvedOperation, RowOperation } from './resolved.ts';
import type { MappingInput } from './schema.ts';

type OperationInput = NonNullable<MappingInput['operation']>;
type ActionInput = OperationInput['values'][string];

/** Resolves which value of the operation field writes, deletes or skips. Deletes name declared families only. */
export function resolveOperation(
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
