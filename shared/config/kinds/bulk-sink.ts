import { pipelineProblems } from '../mapping/compatibility.ts';
import type { ReadSchemaFile } from '../mapping/resolve-format.ts';
import { type MappingResult, resolveMapping } from '../mapping/resolve.ts';
import { formatPath, type Path } from '../problems.ts';
import { readSection } from '../read.ts';
import { bulkSinkSection, sharedNames } from './bulk-sink/options.ts';
import { resolvedBulkSink } from './bulk-sink/resolved.ts';
import { brokenRules, inFlightWarnings } from './bulk-sink/rules.ts';
import type { Kind } from './kind.ts';

/** Records of a subscription become row mutations, at least once. */
export const bulkSink: Kind = {
  section: bulkSinkSection,
  shared: sharedNames,
  resolve(name, value, path, readSchemaFile) {
    const { partial, complete, problems } = readSection(bulkSinkSection, value, path);
    // Options that a bulk sink does not have are problems already; the mapping is held against those that it has.
    const mapped =
      partial.mapping === undefined ? undefined : readMapping(partial.mapping, path, partial, readSchemaFile);
    const broken = [...brokenRules(name, partial, value, path), ...(mapped?.problems ?? [])];
    return {
      pipeline: complete && broken.length === 0 ? resolvedBulkSink(name, complete, mapped?.mapping) : undefined,
      problems: [...problems, ...broken],
      warnings: inFlightWarnings(partial, path),
    };
  },
};

function readMapping(
  value: unknown,
  path: Path,
  written: Readonly<Record<string, unknown>>,
  readSchemaFile: ReadSchemaFile | undefined,
): MappingResult {
  const result = resolveMapping(value, formatPath([...path, 'mapping']), readSchemaFile);
  if (!result.mapping) return result;
  const problems = pipelineProblems({ kind: 'bulk-sink', mapping: result.mapping, written, path: formatPath(path) });
  return problems.length === 0 ? result : { problems };
}
