import type { ConfigProblem } from '../../base/errors.ts';
import { createReport, memberPath, type Report } from './problems.ts';
import { resolveConditional } from './resolve-conditional.ts';
import { resolveFamilies } from './resolve-families.ts';
import { type ReadSchemaFile, resolveFormat } from './resolve-format.ts';
import { resolveOperation } from './resolve-operation.ts';
import { resolveDestination, resolveSkipWhen } from './resolve-route.ts';
import { resolveRowKey } from './resolve-row-key.ts';
import type { ResolvedMapping, ResolvedTimestamp, ResolvedWrite, WriteMode } from './resolved.ts';
import type { MappingInput } from './schema.ts';
import { readShape } from './shape.ts';

export type MappingResult =
  | { readonly mapping: ResolvedMapping; readonly problems: readonly [] }
  | { readonly mapping?: never; readonly problems: readonly ConfigProblem[] };

const refuseFiles: ReadSchemaFile = () => {
  throw new Error('schema files are not read here');
};

/**
 * Checks a mapping as it stands in the configuration at `path` and fills in its defaults. Pure but for `readSchemaFile`,
 * which the caller gives when schemas may be in files. Every problem is reported, not the first alone; a mapping is
 * returned only when there is none.
 */
export function resolveMapping(
  value: unknown,
  path: string,
  readSchemaFile: ReadSchemaFile = refuseFiles,
): MappingResult {
  const shapes = createReport();
  const { input, broken } = readShape(value, path, shapes);
  const report = createReport();
  const mapping = input && resolveParts(input, path, readSchemaFile, report);
  const problems = [...shapes.problems, ...report.problems.filter((problem) => !isEcho(problem, broken))];
  return mapping && problems.length === 0 ? { mapping, problems: [] } : { problems };
}

/** Whether a problem is about something that a broken option is part of, or that is part of it. */
const isEcho = ({ path }: ConfigProblem, broken: readonly string[]): boolean =>
  broken.some((other) => isWithin(path, other) || isWithin(other, path));

const isWithin = (inner: string, outer: string): boolean =>
  inner.startsWith(outer) && ['', '.', '['].includes(inner.charAt(outer.length));

function resolveParts(
  input: MappingInput,
  path: string,
  readSchemaFile: ReadSchemaFile,
  report: Report,
): ResolvedMapping | undefined {
  const format = resolveFormat(input.format, memberPath(path, 'format'), readSchemaFile, report);
  const rowKey = resolveRowKey(input.rowKey, memberPath(path, 'rowKey'), report);
  const write = resolveWrite(input, path, report);
  const skipWhen = resolveSkipWhen(input.skipWhen ?? [], memberPath(path, 'skipWhen'), report);
  const destination =
    input.destination && resolveDestination(input.destination, memberPath(path, 'destination'), report);
  if (format?.schema) {
    for (const { path: option, field } of report.payloadFields) {
      if (!format.schema.has(field.path)) report.add(option, 'must be a field of the schema', field.label);
    }
  }
  return (
    format && rowKey && write && { format: format.format, rowKey, write, skipWhen, ...(destination && { destination }) }
  );
}

/** Options that a mode has no use for are refused even at their default: whoever writes them expects an effect. */
const REFUSED: Readonly<Record<WriteMode, readonly (keyof MappingInput)[]>> = {
  upsert: ['conditional'],
  'keep-latest': ['conditional'],
  aggregate: ['conditional', 'operation', 'nullString'],
  'insert-if-absent': ['conditional', 'operation'],
  'replace-if-newest': ['conditional', 'operation'],
  append: ['conditional', 'operation', 'timestamp'],
  increment: ['conditional', 'operation', 'timestamp'],
  conditional: ['families', 'operation', 'timestamp', 'nullString', 'onNull', 'onMissing'],
};

function resolveWrite(input: MappingInput, path: string, report: Report): ResolvedWrite | undefined {
  const mode = input.writeMode ?? 'upsert';
  for (const name of REFUSED[mode]) {
    if (input[name] !== undefined)
      report.add(memberPath(path, name), `does not apply to the mode ${mode}`, input[name]);
  }
  if (mode === 'conditional') {
    const conditionalPath = memberPath(path, 'conditional');
    if (!input.conditional) report.add(conditionalPath, 'is needed in the mode conditional', undefined);
    const conditional = input.conditional && resolveConditional(input.conditional, conditionalPath, report);
    return conditional && { mode, conditional };
  }
  const families = resolveFamilies(input, mode, path, report);
  if (mode === 'append' || mode === 'increment') return { mode, families };
  const timestamp = resolveTimestamp(input.timestamp, memberPath(path, 'timestamp'), report);
  if (!timestamp) return undefined;
  if (mode !== 'upsert' && mode !== 'keep-latest') return { mode, families, timestamp };
  const operation =
    input.operation && resolveOperation(input.operation, families, memberPath(path, 'operation'), report);
  return { mode, families, timestamp, ...(operation && { operation }), rowDelete: input.operation?.rowDelete ?? 'row' };
}

function resolveTimestamp(
  input: MappingInput['timestamp'],
  path: string,
  report: Report,
): ResolvedTimestamp | undefined {
  if (input === undefined || typeof input === 'string') return { from: 'publishTime' };
  const { unit, truncateToMillis, onNull } = input;
  const field = report.field(memberPath(path, 'field'), input.field);
  return (
    field && {
      from: 'field',
      field,
      unit,
      truncateToMillis: truncateToMillis ?? false,
      onNull: onNull ?? 'reject',
    }
  );
}
