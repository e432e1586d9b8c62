import { readSection } from '../read.ts';
import type { Kind } from './kind.ts';
import { readMapping } from './sink/mapping.ts';
import { brokenRules } from './sink/rules.ts';
import { sharedNames, stagedSinkSection } from './staged-sink/options.ts';
import { resolvedStagedSink } from './staged-sink/resolved.ts';
import { stagedSinkRules } from './staged-sink/rules.ts';

/** Records of a subscription become row mutations, each exactly once. */
export const stagedSink: Kind = {
  section: stagedSinkSection,
  shared: sharedNames,
  resolve(name, value, path, readSchemaFile) {
    const { partial, complete, problems } = readSection(stagedSinkSection, value, path);
    const { markerFamily } = partial;
    const mapped = readMapping({
      kind: 'staged-sink',
      section: stagedSinkSection,
      value,
      path,
      readSchemaFile,
      ...(markerFamily !== undefined && { markerFamily }),
    });
    const broken = [...brokenRules(stagedSinkRules, name, partial, value, path), ...(mapped?.problems ?? [])];
    return {
      pipeline: complete && broken.length === 0 ? resolvedStagedSink(name, complete, mapped?.mapping) : undefined,
      problems: [...problems, ...broken],
      warnings: [],
    };
  },
};
