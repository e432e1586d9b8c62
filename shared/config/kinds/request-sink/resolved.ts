import { qualify } from '../../addresses.ts';
import type { ResolvedMapping } from '../../../mapping/declared/resolved.ts';
import type { ResolvedRequestSink } from '../../resolved.ts';
import { failureOf, requestOptionsOf, resolvedSink, serializerOf } from '../sink/resolved.ts';
import type { RequestSinkOptions } from './options.ts';

/** From options that keep every rule to what a function runs by. Pure. */
export function resolvedRequestSink(
  name: string,
  options: RequestSinkOptions,
  mapping: ResolvedMapping | undefined,
): ResolvedRequestSink {
  const { failurePolicy: policy, deadLetter, project, resultsTopic, replayProtection } = options;
  return {
    kind: 'request-sink',
    ...resolvedSink(name, options),
    serializer: serializerOf<'request'>(options.serializer, mapping),
    failure: failureOf({ policy, deadLetter, project }),
    requestOptions: requestOptionsOf(options.requestOptions),
    emptyBranchPolicy: options.emptyBranchPolicy,
    ...(resultsTopic !== undefined && { resultsTopic: qualify(resultsTopic, 'topics', project) }),
    ...(replayProtection && { replayProtection: { markerFamily: replayProtection.markerFamily } }),
  };
}
