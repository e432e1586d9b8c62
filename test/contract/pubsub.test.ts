import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPubSubServer } from '../../infra/local/servers/pubsub/server.ts';
import { findGooglePubSubEmulator, startGooglePubSubEmulator, type Emulator } from './google-pubsub-emulator.ts';
import { Bench, PUBLISHING, PULLING, PUSHING, RESOURCES } from './pubsub-behaviours.ts';

/**
 * One suite over the servers that stand in for the service. What is expected is what the service does; where a server
 * does something else, that is listed here, and a difference that is gone fails until it is taken off the list.
 * Google's emulator: version 0.8.20.
 */
interface Difference {
  readonly observed: unknown;
  readonly why: string;
}

const EMBEDDED_DIFFERENCES: Readonly<Record<string, Difference>> = {
  'a snapshot can be taken': {
    observed: 12,
    why: 'no snapshots: nothing here needs them, seeking to a time is enough',
  },
  'a subscription can be detached': { observed: 12, why: 'not needed: a subscription is deleted instead' },
};

const UNCHECKED = 'the emulator does not check this limit';
const ACCEPTED = -1;

const GOOGLE_DIFFERENCES: Readonly<Record<string, Difference>> = {
  'labels of a topic can be updated': { observed: 3, why: 'the emulator does not know the field' },
  'an ack deadline has at least 10 s': { observed: ACCEPTED, why: UNCHECKED },
  'a filter must be one': { observed: ACCEPTED, why: 'the emulator keeps a filter and never reads it' },
  'a filter is applied': { observed: ['kept', 'other'], why: 'the emulator keeps a filter and never reads it' },
  'a dead-letter policy has at least five attempts': { observed: 11, why: 'the emulator answers OUT_OF_RANGE' },
  'exactly-once delivery excludes push': { observed: ACCEPTED, why: UNCHECKED },
  'a push subscription cannot be pulled': {
    observed: ACCEPTED,
    why: 'the emulator lets it be pulled beside its pushes',
  },
  'a subscription can be detached': { observed: 12, why: 'the emulator lacks the call' },
  'a message has at most 10,000,000 bytes': { observed: ACCEPTED, why: UNCHECKED },
  'a message has at most 100 attributes': { observed: ACCEPTED, why: UNCHECKED },
  'an attribute key has at most 256 bytes': { observed: ACCEPTED, why: UNCHECKED },
  'an attribute value has at most 1024 bytes': { observed: ACCEPTED, why: UNCHECKED },
  'an attribute key does not start with goog': { observed: ACCEPTED, why: UNCHECKED },
  'an ordering key has at most 1024 bytes': { observed: ACCEPTED, why: UNCHECKED },
  'the messages of a request have one ordering key': { observed: [ACCEPTED, ACCEPTED, ACCEPTED], why: UNCHECKED },
  'a nacked message of a key comes back before its successors': {
    observed: ['1', '2', '3', '1'],
    why: 'the emulator puts a nacked message behind the others of its key',
  },
  'the wrapped body carries the message and its ordering key': {
    observed: {
      body: ['message', 'subscription'],
      message: ['attributes', 'data', 'messageId', 'message_id', 'publishTime', 'publish_time'],
      data: Buffer.from('x').toString('base64'),
      attributes: { a: '1' },
    },
    why: 'the emulator leaves the ordering key out of pushes',
  },
  'the delivery attempt is in the body with a dead-letter policy': {
    observed: undefined,
    why: 'the emulator leaves the attempt out of pushes',
  },
  '200, 201, 202 and 204 acknowledge; everything else refuses': {
    observed: [200, 201, 203, 204],
    why: 'the emulator takes 203 for an acknowledgement and 202 for a refusal',
  },
  'more than two pushes are under way at once': { observed: false, why: 'the emulator pushes two at a time' },
};

const BEHAVIOURS = Object.entries({ ...RESOURCES, ...PUBLISHING, ...PULLING, ...PUSHING });

function conforms(start: () => Promise<Emulator>, differences: Readonly<Record<string, Difference>>): void {
  let server: Emulator;
  let bench: Bench;

  beforeAll(async () => {
    server = await start();
    bench = new Bench(server.address);
  });

  afterAll(async () => {
    await bench.close();
    await server.close();
  });

  test.for(BEHAVIOURS)('%s', async ([name, behaviour]) => {
    const difference = differences[name];
    const observed = await behaviour.observe(bench);
    if (difference) expect(observed, `not as the service, because: ${difference.why}`).toEqual(difference.observed);
    else expect(observed).toEqual(behaviour.expected);
  });
}

describe('the embedded server', () => {
  // Deadlines and backoffs run five times faster: leases of 10 s are 2 s, which no step here outlasts.
  conforms(() => startPubSubServer({ timeScale: 5 }), EMBEDDED_DIFFERENCES);
});

const google = findGooglePubSubEmulator();
const reason = 'missing' in google ? ` (skipped: ${google.missing})` : '';

describe.skipIf('missing' in google)(`Google's emulator${reason}`, () => {
  conforms(() => startGooglePubSubEmulator('jar' in google ? google.jar : ''), GOOGLE_DIFFERENCES);
});

test('every listed difference names a behaviour and differs from what the service does', () => {
  const known = new Map(BEHAVIOURS);
  for (const [name, { observed }] of [...Object.entries(EMBEDDED_DIFFERENCES), ...Object.entries(GOOGLE_DIFFERENCES)]) {
    expect(known.has(name), name).toBe(true);
    expect(known.get(name)?.expected, name).not.toEqual(observed);
  }
});
