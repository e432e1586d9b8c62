import * as z from 'zod';
import { qualify } from '../../model/pubsub-name.ts';
import { choice, declare, optional } from '../option.ts';
import { deadLetterHasItsPolicy, failureOf, requestFailureOptions } from '../options/failure.ts';
import { markerFamily, pubSubName } from '../options/names.ts';
import { replayTopicOf } from '../options/replay.ts';
import { requestOptions, requestOptionsOf } from '../options/requests.ts';
import { requestSerializerOptions, serializerOf } from '../options/serializer.ts';
import { sinkKind } from './sink.ts';

const answerOptions = {
  emptyBranchPolicy: choice(
    'Policy for a message whose conditional request selected a branch without mutations: it is acknowledged like any other, or it is not acknowledged and comes back, whatever the failurePolicy.',
    ['ignore', 'fail'],
    'ignore',
  ),
};

const resultOptions = {
  resultsTopic: optional(
    pubSubName(
      'Topic that the answer of every request is published to, before its message is acknowledged. Neither the topic of the pipeline nor that of its dead letters.',
      'topics',
    ),
  ),
  replayProtection: declare(
    optional(
      z.strictObject({
        markerFamily: markerFamily('Family that holds the markers: it exists, holds bytes and has no GC rule.'),
      }),
    ),
    'Gives every request a marker, so that a message that is delivered again changes nothing. Only where that is exact: not with append and increment, and not with a conditional that has mutations in both branches or in then.',
    { type: 'section' },
  ),
};

/** One conditional or read-modify-write request for each record of a subscription. */
export const requestSink = sinkKind({
  kind: 'request-sink',
  options: {
    ...requestSerializerOptions,
    ...requestFailureOptions,
    ...answerOptions,
    ...requestOptions,
    ...resultOptions,
  },
  shared: ['failurePolicy', 'deadLetter', 'requestOptions'],
  rules: [
    deadLetterHasItsPolicy,
    function resultsDoNotComeBack({ name, options: { resultsTopic, topic, deadLetter, project } }) {
      if (resultsTopic === undefined) return [];
      const results = qualify(resultsTopic, 'topics', project);
      const isTopic = (other: string | undefined): boolean =>
        other !== undefined && qualify(other, 'topics', project) === results;
      const at = ['resultsTopic'];
      if (isTopic(topic)) {
        return [{ at, rule: 'must not be the topic of the pipeline: its results would come back', got: resultsTopic }];
      }
      if (deadLetter?.topic === undefined) return [];
      if (replayTopicOf(name, { ...deadLetter, topic: deadLetter.topic }, project) === results) {
        return [{ at, rule: 'must not be the topic that dead letters come back by', got: resultsTopic }];
      }
      if (!isTopic(deadLetter.topic)) return [];
      const rule = 'must not be the topic of dead letters: whoever reads one has no use for the other';
      return [{ at, rule, got: resultsTopic }];
    },
    function replaysLookLikeEmptyBranches({ options: { emptyBranchPolicy, replayProtection } }) {
      if (emptyBranchPolicy !== 'fail' || !replayProtection) return [];
      const rule =
        'must be ignore with replayProtection: a replay is answered like an empty branch, and a message that was applied would come back forever';
      return [{ at: ['emptyBranchPolicy'], rule, got: emptyBranchPolicy }];
    },
  ],
  mappingTerms: ({ replayProtection }) => ({
    isReplayProtected: replayProtection !== undefined,
    ...(replayProtection?.markerFamily !== undefined && { markerFamily: replayProtection.markerFamily }),
  }),
  resolve: ({ resultsTopic, replayProtection, ...options }, name, mapping) => ({
    serializer: serializerOf<'request'>(options.serializer, mapping),
    failure: failureOf(name, { ...options, policy: options.failurePolicy }),
    requestOptions: requestOptionsOf(options),
    /** Policy for a message whose request selected a branch without mutations. `fail`: it is not acknowledged. */
    emptyBranchPolicy: options.emptyBranchPolicy,
    /** `projects/p/topics/t`, or a bare id, that answers are published to. Absent: nowhere. */
    ...(resultsTopic !== undefined && { resultsTopic: qualify(resultsTopic, 'topics', options.project) }),
    /** Present where every request carries a marker that makes its replay harmless. */
    ...(replayProtection && { replayProtection: { markerFamily: replayProtection.markerFamily } }),
  }),
});
