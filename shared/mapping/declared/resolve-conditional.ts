import { memberPath, type Report } from './problems.ts';
import {
  checkRange,
  resolveColumnName,
  resolveFamilyName,
  resolveOperand,
  resolveTime,
} from './resolve-conditional-parts.ts';
import type { ResolvedConditional, ResolvedMutation, ResolvedPredicate } from './resolved.ts';
import type { MappingInput } from './schema/mapping.ts';

type ConditionalInput = NonNullable<MappingInput['conditional']>;
type PredicateInput = ConditionalInput['predicate'];
type MutationInput = NonNullable<ConditionalInput['then']>[number];

/** Resolves the request of the mode conditional: one predicate and two branches, at least one of them with a mutation. */
export function resolveConditional(
  input: ConditionalInput,
  path: string,
  report: Report,
): ResolvedConditional | undefined {
  const predicate = resolvePredicate(input.predicate, memberPath(path, 'predicate'), report);
  const branch = (name: 'then' | 'otherwise'): readonly ResolvedMutation[] =>
    (input[name] ?? []).flatMap(
      (mutation, index) => resolveMutation(mutation, memberPath(path, name, index), report) ?? [],
    );
  const [then, otherwise] = [branch('then'), branch('otherwise')];
  if ((input.then ?? []).length + (input.otherwise ?? []).length === 0) {
    report.add(path, 'must have a mutation in then or otherwise', input);
  }
  return predicate && { predicate, then, otherwise };
}

function resolvePredicate(input: PredicateInput, path: string, report: Report): ResolvedPredicate | undefined {
  switch (input.type) {
    case 'row-exists':
      refuseOthers(input, [], path, report);
      return { kind: 'row-exists' };
    case 'cell-exists': {
      refuseOthers(input, COLUMN, path, report);
      const column = resolveColumnName(input, path, report);
      return column && { kind: 'cell-exists', column };
    }
    case 'latest-cell-value-equals': {
      refuseOthers(input, [...COLUMN, 'value'], path, report);
      const column = resolveColumnName(input, path, report);
      const value = resolveOperand(input.value, memberPath(path, 'value'), report);
      return column && value && { kind: 'latest-cell-value-equals', column, value };
    }
  }
}

const COLUMN = ['family', 'qualifier', 'qualifierBase64'] as const;

function resolveMutation(input: MutationInput, path: string, report: Report): ResolvedMutation | undefined {
  switch (input.type) {
    case 'set-cell': {
      refuseOthers(input, [...COLUMN, 'value', 'timestamp'], path, report);
      const column = resolveColumnName(input, path, report);
      const value = resolveOperand(input.value, memberPath(path, 'value'), report);
      const timestamp = resolveTime(
        input.timestamp,
        { path: memberPath(path, 'timestamp'), least: -1n, isOfCell: true },
        report,
      );
      return column && value && { kind: 'set-cell', column, value, ...(timestamp && { timestamp }) };
    }
    case 'add-to-cell':
    case 'merge-to-cell':
      return resolveAggregate(input, input.type, path, report);
    case 'delete-cells': {
      refuseOthers(input, [...COLUMN, 'start', 'end'], path, report);
      const column = resolveColumnName(input, path, report);
      const start = resolveTime(input.start, { path: memberPath(path, 'start'), least: 0n }, report);
      const end = resolveTime(input.end, { path: memberPath(path, 'end'), least: 1n }, report);
      checkRange(start, end, path, report);
      return column && { kind: 'delete-cells', column, ...(start && { start }), ...(end && { end }) };
    }
    case 'delete-family': {
      refuseOthers(input, ['family'], path, report);
      const family = resolveFamilyName(input.family, path, report);
      return family === undefined ? undefined : { kind: 'delete-family', family };
    }
    case 'delete-row':
      refuseOthers(input, [], path, report);
      return { kind: 'delete-row' };
  }
}

function resolveAggregate(
  input: MutationInput,
  kind: 'add-to-cell' | 'merge-to-cell',
  path: string,
  report: Report,
): ResolvedMutation | undefined {
  refuseOthers(input, [...COLUMN, 'value', 'timestamp'], path, report);
  const column = resolveColumnName(input, path, report);
  const valuePath = memberPath(path, 'value');
  const value = resolveOperand(input.value, valuePath, report);
  if (value?.kind === 'field' && !['int64', 'bytes', 'raw'].includes(value.format.type.kind)) {
    report.add(
      memberPath(valuePath, 'type'),
      `must be int64 or bytes for ${kind}; no integer is widened`,
      input.value?.type,
    );
  }
  if (value?.kind === 'field' && input.value?.encoding !== undefined) {
    report.add(memberPath(valuePath, 'encoding'), `does not apply to ${kind}`, input.value.encoding);
  }
  const timestampPath = memberPath(path, 'timestamp');
  if (input.timestamp === undefined) report.add(timestampPath, `is needed for ${kind}`, undefined);
  const timestamp = resolveTime(input.timestamp, { path: timestampPath, least: 0n, isOfCell: true }, report);
  return column && value && timestamp && { kind, column, value, timestamp };
}

/** Every option but `type` must be one that the kind of predicate or mutation has. */
function refuseOthers(
  input: PredicateInput | MutationInput,
  applicable: readonly string[],
  path: string,
  report: Report,
): void {
  for (const [name, value] of Object.entries(input)) {
    if (name !== 'type' && value !== undefined && !applicable.includes(name)) {
      report.add(memberPath(path, name), `does not apply to ${input.type}`, value);
    }
  }
}
