import * as z from 'zod';
import { tableNamePartProblem } from '../../model/table-name.ts';
import { parseEmulatorEndpoint, pubSubNamePattern, type PubSubCollection } from '../addresses.ts';
import { choice, declare, duration, notBlank, optional, ruled, text } from '../option.ts';

/** Options that every kind of pipeline has in common. */

/** Limits of Pub/Sub on attributes (https://cloud.google.com/pubsub/quotas#resource_limits). */
const MAX_ATTRIBUTE_KEY_BYTES = 256;

/** One part of a table's address. */
export const tablePart = (about: string) => text(about, tableNamePartProblem, 'not blank, not padded, no "/"');

export function pubSubName(about: string, collection: PubSubCollection) {
  const pattern = pubSubNamePattern(collection);
  const bounds = `an id of 3 to 255 letters, digits and ._~%+- that starts with a letter and not with "goog", or projects/p/${collection}/<id>`;
  const rule = ruled(`must be ${bounds}`);
  return declare(z.string(rule).regex(pattern, rule), about, { type: 'text', bounds, isRequired: true });
}

export const attributeName = (about: string) =>
  text(
    about,
    (value) =>
      notBlank(value) ??
      (Buffer.byteLength(value) > MAX_ATTRIBUTE_KEY_BYTES
        ? `must be at most ${MAX_ATTRIBUTE_KEY_BYTES} bytes of UTF-8`
        : undefined),
    `not blank, at most ${MAX_ATTRIBUTE_KEY_BYTES} bytes`,
  );

const endpointBounds = 'host:port without white space, port 1 to 65535';

export const placeOptions = {
  project: optional(
    tablePart(
      'Project of the Bigtable instance, and of every topic and subscription that is named by its bare id. Needed by a table that is named by its bare id.',
    ),
  ),
  instance: optional(
    tablePart('Bigtable instance of every table that is named by its bare id. Needed by such a table.'),
  ),
  appProfileId: optional(
    text(
      'Application profile that requests name; without it Bigtable uses the default profile of the instance. A Data Boost profile takes no writes, which is not checked here.',
      notBlank,
      'not blank',
    ),
  ),
  serviceAccountKeyFile: optional(
    text(
      'Path of a service account key, relative to the configuration; without it Application Default Credentials are used. Never with emulatorEndpoint; the path is never printed.',
      notBlank,
      'not blank',
    ),
  ),
  emulatorEndpoint: optional(
    text(
      'Address of a Bigtable emulator, spoken to in plaintext and without credentials. Never with serviceAccountKeyFile; nothing is trimmed.',
      (value) => (parseEmulatorEndpoint(value) ? undefined : `must be ${endpointBounds}`),
      endpointBounds,
    ),
  ),
};

export const deliveryOptions = {
  ordering: choice(
    'Whether the subscription is ordered: with "row" the publisher sets the ordering key to the row, and messages of one key are written one after another. Ordering costs throughput per key.',
    ['none', 'row'],
    'none',
  ),
  framing: choice(
    'How the records of one message are told apart: the whole message, one per line, or the elements of a JSON array. A message is acknowledged only when all of its records are settled.',
    ['single', 'ndjson', 'json-array'],
    'single',
  ),
  ackDeadline: duration(
    'How long Pub/Sub waits for the answer to a message before it delivers it again. An invocation ends deadlineMargin before it.',
    { default: '600s', min: '10s', max: '600s', step: '1s' },
  ),
  deadlineMargin: duration(
    'Taken off an invocation so that its answer is sent before Pub/Sub gives up on it. Must be below ackDeadline.',
    { default: '5s', min: '0ms' },
  ),
  metricsFlushInterval: duration(
    'Shortest time between two metric lines of one instance. 0ms writes one at the end of every invocation.',
    { default: '10s', min: '0ms' },
  ),
};
