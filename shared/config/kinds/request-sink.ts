import { readSection } from '../read.ts';
import type { Kind } from './kind.ts';
import { requestSinkSection, sharedNames } from './request-sink/options.ts';
import { resolvedRequestSink } from './request-sink/resolved.ts';
import { requestSinkRules } from './request-sink/rules.ts';
import { readMapping } from './sink/mapping.ts';
import { brokenRules } from './sink/rules.ts';

/** One conditional or read-modify-write request for each record of a subscription. */
export const requestSink: Kind = {
  section: requestSinkSection,
  shared: sharedNames,
  resolve(name, value, path, readSchemaFile) {
    const { partial, complete, problems } = readSection(requestSinkSection, value, path);
    const { replayProtection } = partial;
    const mapped = readMapping({
      kind: 'request-sink',
      section: requestSinkSection,
      value,
      path,
      readSchemaFile,
      isReplayProtected: replayProtection !== undefined,
      ...(replayProtection?.markerFamily !== undefined && { markerFamily: replayProtection.markerFamily }),
    });
    const broken = [...brokenRules(requestSinkRules, name, partial, value, path), ...(mapped?.problems ?? [])];
    return {
      pipeline: complete && broken.length === 0 ? resolvedRequestSink(name, complete, mapped?.mapping) : undefined,
      problems: [...problems, ...broken],
      warnings: [],
    };
  },
};
