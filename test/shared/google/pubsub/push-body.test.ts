import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RedeliverError } from '../../../../shared/base/errors.ts';
import { decodePush, readPush } from '../../../../shared/google/pubsub/push-body.ts';
import { cpuMillis } from '../../../support/cpu-time.ts';

const message = {
  data: Buffer.from('data').toString('base64'),
  attributes: { a: '1', b: '' },
  messageId: '42',
  message_id: '42',
  publishTime: '2026-01-02T03:04:05.678Z',
  publish_time: '2026-01-02T03:04:05.678Z',
  orderingKey: 'row-7',
};

const decoded = {
  messageId: '42',
  publishTimeMicros: BigInt(Date.UTC(2026, 0, 2, 3, 4, 5, 678)) * 1000n,
  data: Buffer.from('data'),
  attributes: { a: '1', b: '' },
  orderingKey: 'row-7',
  subscription: 'projects/p/subscriptions/s',
};

const wrapped = (changes: object = {}) => ({
  message: { ...message, ...changes },
  subscription: 'projects/p/subscriptions/s',
});

describe('the forms of a push', () => {
  test('the wrapped form of a push subscription', () => {
    expect(decodePush(wrapped())).toEqual(decoded);
  });

  test('with a dead-letter policy it tells the attempt', () => {
    expect(decodePush({ ...wrapped(), deliveryAttempt: 5 })).toEqual({ ...decoded, deliveryAttempt: 5 });
  });

  test('Eventarc in structured mode carries the same inside its data', () => {
    const event = {
      specversion: '1.0',
      id: '42',
      source: '//pubsub.googleapis.com/projects/p/topics/t',
      type: 'google.cloud.pubsub.topic.v1.messagePublished',
      datacontenttype: 'application/json',
      time: '2026-01-02T03:04:05.678Z',
      data: wrapped(),
    };
    expect(decodePush(event)).toEqual(decoded);
  });

  test('Eventarc in binary mode has it as its body, with the names of the event type', () => {
    const { messageId, publishTime, data, attributes, orderingKey } = message;
    expect(
      decodePush({
        message: { messageId, publishTime, data, attributes, orderingKey },
        subscription: 'projects/p/subscriptions/s',
      }),
    ).toEqual(decoded);
  });

  test('either spelling of a name alone is enough', () => {
    const { data, attributes } = message;
    const snake = { message_id: '42', publish_time: message.publishTime, ordering_key: 'row-7', data, attributes };
    expect(decodePush({ message: snake, subscription: decoded.subscription })).toEqual(decoded);
  });

  test.each([
    ['without data', { data: undefined }],
    ['with null', { data: null }],
    ['with an empty text', { data: '' }],
  ])('a message of attributes alone, %s', (_name, change) => {
    expect(decodePush(wrapped(change))).toEqual({ ...decoded, data: Buffer.alloc(0) });
  });

  test('what a message may leave out has a value all the same', () => {
    const bare = { messageId: '42', publishTime: message.publishTime };
    expect(decodePush({ message: bare })).toEqual({
      ...decoded,
      data: Buffer.alloc(0),
      attributes: {},
      orderingKey: '',
      subscription: '',
    });
    expect(decodePush(wrapped({ attributes: null })).attributes).toEqual({});
  });

  test('data is bytes, not text', () => {
    const bytes = Buffer.from([0, 0xff, 0xfe, 0x80, 10]);
    expect(decodePush(wrapped({ data: bytes.toString('base64') })).data.equals(bytes)).toBe(true);
  });

  test('an attribute may be called like a member of every object', () => {
    const attributes = JSON.parse('{"__proto__":"p","constructor":"c"}') as object;
    const read = decodePush(wrapped({ attributes })).attributes;
    expect(Object.entries(read)).toEqual([
      ['__proto__', 'p'],
      ['constructor', 'c'],
    ]);
  });

  test('ten megabytes are read, in a fraction of a second of CPU', () => {
    const data = Buffer.alloc(10_000_000, 'x');
    const body = wrapped({ data: data.toString('base64') });
    const spent = cpuMillis(() => {
      expect(decodePush(body).data.equals(data)).toBe(true);
    });
    expect(spent).toBeLessThan(1000);
  });
});

describe('the publish time is read to the microsecond', () => {
  const second = BigInt(Date.UTC(2026, 0, 2, 3, 4, 5)) * 1000n;

  test.each([
    ['2026-01-02T03:04:05Z', second],
    ['2026-01-02T03:04:05.1Z', second + 100_000n],
    ['2026-01-02T03:04:05.678Z', second + 678_000n],
    ['2026-01-02T03:04:05.000001Z', second + 1n],
    ['2026-01-02T03:04:05.678901Z', second + 678_901n],
    ['2026-01-02T03:04:05.678901999Z', second + 678_901n],
    ['2026-01-02T05:34:05.000001+02:30', second + 1n],
    ['2026-01-01T19:04:05.5-08:00', second + 500_000n],
    ['1970-01-01T00:00:00.000001Z', 1n],
    ['1969-12-31T23:59:59.999999Z', -1n],
  ])('%s', (publishTime, micros) => {
    expect(decodePush(wrapped({ publishTime })).publishTimeMicros).toBe(micros);
  });

  test.each([
    ['none', undefined],
    ['null', null],
    ['milliseconds', 1_767_323_045_678],
    ['an empty text', ''],
    ['a date', '2026-01-02'],
    ['no offset', '2026-01-02T03:04:05'],
    ['month 13', '2026-13-02T03:04:05Z'],
    ['second 61', '2026-01-02T03:04:61Z'],
    ['ten digits of a second', '2026-01-02T03:04:05.0123456789Z'],
    ['something behind it', '2026-01-02T03:04:05Z or so'],
  ])('refused: %s', (_name, publishTime) => {
    expect(() => decodePush(wrapped({ publishTime, publish_time: undefined }))).toThrow(
      'message.publishTime must be an RFC 3339 time',
    );
  });
});

describe('what is no push is refused with what is wrong, so that it is redelivered and seen', () => {
  test.each([
    ['nothing', undefined, 'the body must be a JSON object'],
    ['a text', 'text', 'the body must be a JSON object'],
    ['a list', [wrapped()], 'the body must be a JSON object'],
    ['bytes that nobody parsed', Buffer.from('{}'), 'data must be a JSON object'],
    ['another object', { some: 'object' }, 'data must be a JSON object'],
    ['an event of another service', { specversion: '1.0', data: { bucket: 'b' } }, 'message must be a JSON object'],
    ['a message that is null', { message: null }, 'message must be a JSON object'],
    ['a message that is a list', { message: [] }, 'message must be a JSON object'],
    ['data that is a number', wrapped({ data: 7 }), 'message.data must be base64 text'],
    ['data that is an object', wrapped({ data: { a: 1 } }), 'message.data must be base64 text'],
    ['no id', wrapped({ messageId: undefined, message_id: undefined }), 'message.messageId must be a non-empty text'],
    ['an empty id', wrapped({ messageId: '' }), 'message.messageId must be a non-empty text'],
    ['an id that is a number', wrapped({ messageId: 42 }), 'message.messageId must be a non-empty text'],
    ['attributes that are a list', wrapped({ attributes: ['a'] }), 'message.attributes must be a JSON object'],
    ['an attribute that is a number', wrapped({ attributes: { a: 1 } }), 'message.attributes must hold texts'],
    ['an attribute that is null', wrapped({ attributes: { a: null } }), 'message.attributes must hold texts'],
  ])('%s', (_name, body, rule) => {
    expect(() => decodePush(body)).toThrow(RedeliverError);
    expect(() => decodePush(body)).toThrow(`not a Pub/Sub push: ${rule}.`);
  });

  test('the refusal is of its own reason and quotes nothing of the body', () => {
    let error: unknown;
    try {
      decodePush(wrapped({ messageId: 42, attributes: { planted: 'secret' } }));
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ reason: 'malformed-push' });
    expect(String(error)).not.toMatch(/planted|secret/);
  });

  test('an ordering key or a subscription of another type counts as none', () => {
    const read = decodePush({ ...wrapped({ orderingKey: 7 }), subscription: {}, deliveryAttempt: 'many' });
    expect(read).toEqual({ ...decoded, orderingKey: '', subscription: '' });
  });
});

describe('the bytes of a push', () => {
  const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

  test('are read as what they say, whatever the data', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 50 }), (data) => {
        const read = readPush(bytes(wrapped({ data: Buffer.from(data).toString('base64') })));
        expect(read.data.equals(data)).toBe(true);
      }),
    );
  });

  test('hold base64 that says one thing only: every text that is taken is the one that its bytes make', () => {
    const texts = fc.stringMatching(/^[ABQgwz09+/=\-_! \n]{0,12}$/);
    fc.assert(
      fc.property(texts, (text) => {
        const canonical = Buffer.from(text, 'base64').toString('base64');
        const read = (): Buffer => readPush(bytes(wrapped({ data: text }))).data;
        if (text === canonical) expect(read().toString('base64')).toBe(text);
        else expect(read).toThrow('message.data must be base64 text');
      }),
      { numRuns: 2000 },
    );
  });

  test('of any JSON in any place are a push or a refusal that quotes nothing', () => {
    const places = ['messageId', 'publishTime', 'data', 'attributes', 'orderingKey', 'message_id', 'publish_time'];
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.jsonValue(), (place, value) => {
        try {
          readPush(bytes(wrapped({ messageId: undefined, publishTime: undefined, [place]: value })));
          readPush(bytes({ ...wrapped(), [place]: value }));
          readPush(bytes(value));
        } catch (error) {
          expect(error).toBeInstanceOf(RedeliverError);
          expect(error).toMatchObject({ reason: 'malformed-push' });
          expect(error).not.toHaveProperty('cause');
        }
      }),
    );
  });

  test.each<[string, Buffer, string]>([
    ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'the body must be UTF-8'],
    ['text that is no JSON', Buffer.from('{"secret'), 'the body must be JSON'],
    ['no byte', Buffer.alloc(0), 'the body must be JSON'],
    ['nesting', Buffer.from('['.repeat(17)), 'the body must not be nested deeper than 16'],
    ['many values', bytes(new Array(2001).fill(0)), 'the body must not hold more than 2000 values'],
    ['a long id', bytes(wrapped({ messageId: 'x'.repeat(257) })), 'message.messageId must have at most 256 characters'],
  ])('%s are refused', (_name, body, rule) => {
    expect(() => readPush(body)).toThrow(`not a Pub/Sub push: ${rule}.`);
    expect(() => readPush(body)).not.toThrow('secret');
  });
});
