import { readSection } from '../read.ts';
import { bulkSinkSection, sharedNames } from './bulk-sink/options.ts';
import { resolvedBulkSink } from './bulk-sink/resolved.ts';
import { bulkSinkRules, inFlightWarnings } from './bulk-sink/rules.ts';
import type { Kind } from './kind.ts';
import { readMapping } from './sink/mapping.ts';
import { brokenRules } from './sink/rules.ts';

/** Records of a subscription become row mutations, at least once. */
export const bulkSink: Kind = {
  section: bulkSinkSection,
  shared: sharedNames,
  resolve(name, value, path, readSchemaFile) {
    const { partial, complete, problems } = readSection(bulkSinkSection, value, path);
    const mapped = readMapping({ kind: 'bulk-sink', section: bulkSinkSection, value, path, readSchemaFile });
    const broken = [...brokenRules(bulkSinkRules, name, partial, value, path), ...(mapped?.problems ?? [])];
    return {
      pipeline: complete && broken.length === 0 ? resolvedBulkSink(name, complete, mapped?.mapping) : undefined,
      problems: [...problems, ...broken],
      warnings: inFlightWarnings(partial, path),
    };
  },
};
