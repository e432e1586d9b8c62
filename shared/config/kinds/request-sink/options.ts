import * as z from 'zod';
import { choice, declare, optional } from '../../option.ts';
import { requestFailureOptions } from '../../options/failure.ts';
import { markerFamily } from '../../options/marker.ts';
import { requestOptions } from '../../options/requests.ts';
import { requestSerializerOptions } from '../../options/serializer.ts';
import { deliveryOptions, placeOptions, pubSubName } from '../../options/shared.ts';
import { destinationOptions, kindOption, sourceOptions } from '../../options/sink.ts';

/** Every option of a request sink, declared. */
export const requestSinkSection = z.strictObject({
  kind: kindOption('request-sink'),
  ...sourceOptions,
  ...placeOptions,
  ...destinationOptions,
  ...requestSerializerOptions,
  ...requestFailureOptions,
  emptyBranchPolicy: choice(
    'What becomes of a message whose conditional request selected a branch without mutations: nothing more, or it is not acknowledged and comes back, whatever the failurePolicy.',
    ['ignore', 'fail'],
    'ignore',
  ),
  ...requestOptions,
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
  ...deliveryOptions,
});

export type RequestSinkOptions = z.output<typeof requestSinkSection>;

/** What the document's defaults may set for every request sink. */
export const sharedNames: readonly string[] = [
  placeOptions,
  requestFailureOptions,
  requestOptions,
  deliveryOptions,
].flatMap((options) => Object.keys(options));
