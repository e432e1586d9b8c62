import { projectOf, qualify } from '../../addresses.ts';
import type { ResolvedMapping } from '../../../mapping/declared/resolved.ts';
import type { ResolvedCommit, ResolvedStagedSink } from '../../resolved.ts';
import { failureOf, requestOptionsOf, resolvedSink, serializerOf, subscriptionId } from '../sink/resolved.ts';
import type { StagedSinkOptions } from './options.ts';

/** From options that keep every rule to what the functions run by. Pure. */

/** The topic of work, and its subscription, of a pipeline that names none. */
export const commitId = (name: string, topic: string): string => `${subscriptionId(name, topic)}-commit`;

export function resolvedStagedSink(
  name: string,
  options: StagedSinkOptions,
  mapping: ResolvedMapping | undefined,
): ResolvedStagedSink {
  const { failurePolicy, onRejected, deadLetter, project, idAttribute, markerFamily, markerHorizon } = options;
  return {
    kind: 'staged-sink',
    ...resolvedSink(name, options),
    serializer: serializerOf<'entry'>(options.serializer, mapping),
    failure: failureOf({ policy: failurePolicy, deadLetter, project }),
    onRejected: failureOf({ policy: onRejected, deadLetter, project }),
    marker: { family: markerFamily, ...(markerHorizon !== undefined && { horizonMillis: markerHorizon }) },
    ...(idAttribute !== undefined && { idAttribute }),
    commit: commitOf(name, options),
    requestOptions: requestOptionsOf(options.requestOptions),
  };
}

function commitOf(name: string, options: StagedSinkOptions): ResolvedCommit {
  if (options.commit === 'on-receipt') return { when: 'on-receipt' };
  const { project, topic } = options;
  const home = project ?? projectOf(topic);
  const id = commitId(name, topic);
  return {
    when: 'on-checkpoint',
    checkpointIntervalMillis: options.checkpointInterval,
    maxStagedEntries: options.maxStagedEntries,
    maxStagedBytes: options.maxStagedBytes,
    commitTopic: qualify(options.commitTopic ?? id, 'topics', home),
    commitSubscription: qualify(options.commitSubscription ?? id, 'subscriptions', home),
    firestore: { ...(project !== undefined && { project }), database: options.firestoreDatabase },
  };
}
