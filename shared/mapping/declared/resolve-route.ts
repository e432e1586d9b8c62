import { RE2JS } from 're2js';
import { tableIdProblem } from '../../model/table-name.ts';
import { memberPath, type Report } from './problems.ts';
import type { ConditionTest, ResolvedCondition, ResolvedDestination, TemplatePolicy } from './resolved.ts';
import { resolveTemplate } from './resolve-row-key.ts';
import type { MappingInput } from './schema/mapping.ts';

type ConditionInput = NonNullable<MappingInput['skipWhen']>[number];
type DestinationInput = NonNullable<MappingInput['destination']>;
type Scalar = string | number | boolean;

/** Resolves the conditions under which a record is skipped. */
export function resolveSkipWhen(
  input: readonly ConditionInput[],
  path: string,
  report: Report,
): readonly ResolvedCondition[] {
  return input.flatMap((condition, index) => resolveCondition(condition, memberPath(path, index), report) ?? []);
}

function resolveCondition(input: ConditionInput, path: string, report: Report): ResolvedCondition | undefined {
  const { field: text, ...tests } = input;
  const field = report.field(memberPath(path, 'field'), text);
  const [test, ...more] = Object.entries(tests).filter(([, value]) => value !== undefined);
  if (!test || more.length > 0) {
    report.add(path, 'must have exactly one of equals, notEquals, in, notIn, is', input);
    return undefined;
  }
  for (const value of [test[1]].flat()) {
    // The texts of equal numbers are equal in plain notation alone.
    if (typeof value === 'number' && !/^-?\d+(?:\.\d+)?$/.test(String(value))) {
      report.add(memberPath(path, test[0]), 'must be a number of plain notation; quote its digits', value);
    }
  }
  return field && { field, test: testOf(tests) };
}

function testOf({ equals, notEquals, in: among, notIn, is }: Omit<ConditionInput, 'field'>): ConditionTest {
  if (is !== undefined) return { kind: 'is', state: is };
  const texts = (values: readonly Scalar[]): readonly string[] => values.map(String);
  if (equals !== undefined) return { kind: 'in', values: texts([equals]) };
  if (notEquals !== undefined) return { kind: 'not-in', values: texts([notEquals]) };
  return among === undefined ? { kind: 'not-in', values: texts(notIn ?? []) } : { kind: 'in', values: texts(among) };
}

/** A table's name has no delimiters to collide with: its range says which names there are. */
const POLICY: TemplatePolicy = { onNull: 'reject', onEmpty: 'reject', onDelimiter: 'allow' };

/** Resolves the table per record, within the range that the options state. */
export function resolveDestination(
  input: DestinationInput,
  path: string,
  report: Report,
): ResolvedDestination | undefined {
  const { tables, pattern, maxTables } = input;
  const place = { path: memberPath(path, 'template'), policy: POLICY, isKey: false };
  const template = resolveTemplate(input.template, place, report);
  if ((tables === undefined) === (pattern === undefined)) {
    report.add(path, 'must have exactly one of tables and pattern', input);
    return undefined;
  }
  if (tables !== undefined) {
    if (maxTables !== undefined) report.add(memberPath(path, 'maxTables'), 'applies to pattern only', maxTables);
    checkTables(tables, memberPath(path, 'tables'), report);
    return template && { template, tables };
  }
  if (maxTables === undefined) report.add(memberPath(path, 'maxTables'), 'is needed with pattern', undefined);
  if (pattern !== undefined) checkPattern(pattern, memberPath(path, 'pattern'), report);
  return template && pattern !== undefined && maxTables !== undefined ? { template, pattern, maxTables } : undefined;
}

function checkTables(tables: readonly string[], path: string, report: Report): void {
  for (const [index, table] of tables.entries()) {
    const rule = tableIdProblem(table);
    if (rule !== undefined) report.add(memberPath(path, index), rule, table);
    if (tables.indexOf(table) < index) report.add(memberPath(path, index), 'must not be named twice', table);
  }
}

function checkPattern(pattern: string, path: string, report: Report): void {
  try {
    RE2JS.compile(pattern);
  } catch {
    report.add(path, 'must be a regular expression of RE2, which has no look-around and no back reference', pattern);
  }
}
