import type { ReadSchemaFile } from '../mapping/resolve-format.ts';
import { type MappingResult, resolveMapping } from '../mapping/resolve.ts';
import type { WriteMode } from '../mapping/resolved.ts';
import { formatPath, type Path, problem } from '../problems.ts';
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
    const mapped = partial.mapping === undefined ? undefined : readMapping(partial.mapping, path, readSchemaFile);
    const broken = [...brokenRules(name, partial, value, path), ...(mapped?.problems ?? [])];
    return {
      pipeline: complete && broken.length === 0 ? resolvedBulkSink(name, complete, mapped?.mapping) : undefined,
      problems: [...problems, ...broken],
      warnings: inFlightWarnings(partial, path),
    };
  },
};

/** The modes whose writes are entries; the others are single-row requests, which `MutateRows` cannot carry. */
const ENTRY_MODES: ReadonlySet<WriteMode> = new Set<WriteMode>(['upsert', 'keep-latest', 'aggregate']);

function readMapping(value: unknown, path: Path, readSchemaFile: ReadSchemaFile | undefined): MappingResult {
  const at = [...path, 'mapping'];
  const result = resolveMapping(value, formatPath(at), readSchemaFile);
  const mode = result.mapping?.write.mode;
  if (mode === undefined || ENTRY_MODES.has(mode)) return result;
  const rule = `must be one of ${[...ENTRY_MODES].join(', ')} in a bulk sink: the other modes are single-row requests`;
  return { problems: [problem([...at, 'writeMode'], rule, mode)] };
}
