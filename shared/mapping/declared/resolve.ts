import type { ConfigProblem } from '../../base/errors.ts';
import { createReport, memberPath, type Report } from './problems.ts';
import { type ReadSchemaFile, resolveFormat } from './resolve-format.ts';
import { resolveDestination, resolveSkipWhen } from './resolve-route.ts';
import { resolveRowKey } from './resolve-row-key.ts';
import { resolveWrite } from './resolve-write.ts';
import type { ResolvedMapping } from './resolved.ts';
import type { MappingInput } from './schema/mapping.ts';
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
