import { choice, count, duration, notBlank, optional, requiredDuration, size, text, withDefault } from '../option.ts';
import { markerFamily } from './marker.ts';
import { attributeName, pubSubName } from './shared.ts';

/** How a write is owned: by what it is told apart, where its marker is kept, and when it is made. */

export const identityOptions = {
  markerFamily: markerFamily(
    'Family that holds one marker for each record applied to a row. It exists, holds bytes, is written by nobody else, and has no GC rule unless markerHorizon allows one.',
  ),
  markerHorizon: optional(
    requiredDuration(
      'Age, counted from the publish, up to which a record may be applied. With it the marker family may have a maxAge rule of at least this; an older record follows onRejected. Without it markers are kept forever.',
      { example: '30d', min: '8d' },
    ),
  ),
  idAttribute: optional(
    attributeName(
      'Message attribute that identifies a message forever, set by the publisher, so that a message published twice counts once. It counts once in each row: the same id on two rows is two effects, because the marker is kept in the row. A message without it is identified by the id that Pub/Sub gave it.',
    ),
  ),
  commit: choice(
    'When rows are written: once a checkpoint owns what was staged in Firestore, or by the invocation that receives the record, in one round trip and without Firestore.',
    ['on-checkpoint', 'on-receipt'],
    'on-checkpoint',
  ),
};

/** Where staged work is kept; many pipelines may share it. */
export const firestoreOptions = {
  firestoreDatabase: withDefault(
    text('Firestore database (native mode) of the staged work. Not with commit on-receipt.', notBlank, 'not blank'),
    '(default)',
  ),
};

/** Of commit on-checkpoint alone. */
export const stagingOptions = {
  checkpointInterval: duration(
    'Time between checkpoints. A row is visible at most about this long after its record was staged. Not with commit on-receipt.',
    { default: '10s', min: '1s' },
  ),
  maxStagedEntries: count(
    'Entries staged or being committed at which further records are turned away until some are committed; Pub/Sub keeps them. Not with commit on-receipt.',
    { default: 100_000, min: 1 },
  ),
  maxStagedBytes: size(
    'Size of the requests staged or being committed, and 256 B for each, at which further records are turned away. Not with commit on-receipt.',
    { default: '64MiB', min: 1 },
  ),
  commitTopic: optional(
    pubSubName(
      'Internal topic on which work is handed to commitStaged; without it the topic id, a hyphen, the name of the pipeline and "-commit". Nobody else publishes to it. Not with commit on-receipt.',
      'topics',
    ),
  ),
  commitSubscription: optional(
    pubSubName(
      'Push subscription of commitTopic; without it the topic id, a hyphen, the name of the pipeline and "-commit". Not with commit on-receipt.',
      'subscriptions',
    ),
  ),
};
