import { readSection } from '../read.ts';
import { bulkSinkSection, sharedNames } from './bulk-sink/options.ts';
import { resolvedBulkSink } from './bulk-sink/resolved.ts';
import { brokenRules, inFlightWarnings } from './bulk-sink/rules.ts';
import type { Kind } from './kind.ts';

/** Records of a subscription become row mutations, at least once. */
export const bulkSink: Kind = {
  section: bulkSinkSection,
  shared: sharedNames,
  resolve(name, value, path) {
    const { partial, complete, problems } = readSection(bulkSinkSection, value, path);
    const broken = brokenRules(name, partial, value, path);
    return {
      pipeline: complete && broken.length === 0 ? resolvedBulkSink(name, complete) : undefined,
      problems: [...problems, ...broken],
      warnings: inFlightWarnings(partial, path),
    };
  },
};
