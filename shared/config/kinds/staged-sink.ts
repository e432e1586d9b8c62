import { deadLetterHasOneOfItsPolicies, failureOf, stagedFailureOptions } from '../options/failure.ts';
import { requestOptions, requestOptionsOf } from '../options/requests.ts';
import { serializerOf, serializerOptions } from '../options/serializer.ts';
import {
  checkpointOptions,
  commitOf,
  commitOptions,
  firestoreOptions,
  identityOptions,
  markerOf,
  stagingRules,
} from '../options/staging.ts';
import { sinkKind } from './sink.ts';

/** Records of a subscription become row mutations, each exactly once. */
export const stagedSink = sinkKind({
  kind: 'staged-sink',
  options: {
    ...serializerOptions,
    ...stagedFailureOptions,
    ...identityOptions,
    ...firestoreOptions,
    ...checkpointOptions,
    ...commitOptions,
    ...requestOptions,
  },
  shared: ['firestoreDatabase', 'requestOptions', 'failurePolicy', 'deadLetter'],
  rules: [deadLetterHasOneOfItsPolicies, ...stagingRules],
  mappingTerms: ({ markerFamily }) => ({ ...(markerFamily !== undefined && { markerFamily }) }),
  resolve: (options, name, mapping) => ({
    serializer: serializerOf<'entry'>(options.serializer, mapping),
    /** Of a record that cannot be read, serialized or wrapped in an envelope. */
    failure: failureOf(name, { ...options, policy: options.failurePolicy }),
    /** Of an envelope that Bigtable refuses, or that is too old to be applied safely. */
    onRejected: failureOf(name, { ...options, policy: options.onRejected }),
    marker: markerOf(options),
    /** Attribute that identifies a message; absent: Pub/Sub's message id does. */
    ...(options.idAttribute !== undefined && { idAttribute: options.idAttribute }),
    /** Most envelopes of one row in one request. */
    maxCoalescedEnvelopes: options.maxCoalescedEnvelopes,
    commit: commitOf(name, options),
    requestOptions: requestOptionsOf(options),
  }),
});
