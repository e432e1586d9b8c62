import { describe, expect, test } from 'vitest';
import { letterAttributes } from '../../../shared/letters/attributes.ts';
import type { PulledMessage } from '../../../functions/cli/ports.ts';
import { isWanted, republished } from '../../../functions/cli/replay/letters.ts';
import { scanLetter } from '../../support/scan-letter.ts';
import { FakePubSub, configOf, run, statusError } from './fakes.ts';

const CONFIG = configOf({ failurePolicy: 'dead-letter', deadLetter: { topic: 'dlq' } });

let ids = 0;
const letter = (data: string, attributes: Readonly<Record<string, string>> = {}): PulledMessage => {
  ids += 1;
  return {
    ackId: `ack-${ids}`,
    messageId: String(ids),
    data: Buffer.from(data),
    attributes: {
      'dlq-connector': 'bigtable',
      'dlq-pipeline': 'orders',
      'dlq-reason': 'rejected',
      'dlq-destination': 'p.i.t',
      'dlq-payload': 'record',
      'dlq-timestamp': '2025-01-01T00:00:00.000Z',
      'dlq-original-message-id': `original-${data}`,
      'dlq-error': 'refused',
      color: 'red',
      ...attributes,
    },
  };
};

function given(...letters: readonly PulledMessage[]): FakePubSub {
  const pubsub = new FakePubSub();
  pubsub.letters = [...letters];
  return pubsub;
}

const replay = (
  args: readonly string[],
  pubsub: FakePubSub,
  more: { config?: string; signal?: AbortSignal; waits?: number[] } = {},
) => run(['replay-dlq', 'orders', ...args], { config: CONFIG, pubsub, ...more });

describe('without --apply', () => {
  test('letters are counted by reason and all given back, and no payload is shown', async () => {
    const pubsub = given(
      letter('secret-1'),
      letter('secret-2', { 'dlq-timestamp': '2025-01-02T00:00:00.000Z' }),
      letter('secret-3', { 'dlq-reason': 'serializer' }),
      letter('other', { 'dlq-pipeline': 'clicks' }),
    );
    const { code, out } = await replay([], pubsub);
    expect(code).toBe(0);
    expect(out.split('\n').slice(0, 3)).toEqual([
      'REASON      DESTINATION  PAYLOAD  LETTERS  OLDEST                    NEWEST',
      'rejected    p.i.t        record   2        2025-01-01T00:00:00.000Z  2025-01-02T00:00:00.000Z',
      'serializer  p.i.t        record   1        2025-01-01T00:00:00.000Z  2025-01-01T00:00:00.000Z',
    ]);
    expect(out).toContain('3 letters in projects/p/subscriptions/dlq-reader, all given back; 1 left out');
    expect(out.replaceAll('original-secret', '')).not.toContain('secret');
    expect(pubsub.letters).toHaveLength(4);
    expect(pubsub.leased.size).toBe(0);
    expect(pubsub.acknowledged).toEqual([]);
    expect(pubsub.published).toEqual([]);
  });

  test('--max and --where bound what is looked at', async () => {
    const pubsub = given(letter('a'), letter('b', { color: 'blue' }), letter('c'), letter('d'));
    const { out } = await replay(['--max', '2', '--where', 'color=red', '--where', 'dlq-reason=rejected'], pubsub);
    expect(out).toContain('2 letters in');
    expect(out).toContain('there may be more (--max)');
    expect(pubsub.letters).toHaveLength(4);
  });
});

describe('where nothing is visible', () => {
  test('a replay looks as long as another run may hold letters, and says that it saw none, not that there are none', async () => {
    const { code, out, err } = await replay([], given());
    expect(err).toBe('nothing is visible in projects/p/subscriptions/dlq-reader yet; looking 25 s more');
    expect(out).toMatch(
      /^0 letters in projects\/p\/subscriptions\/dlq-reader; none was visible for 30 s, which is not to say that there is none: letters that another run or reader holds/,
    );
    expect(out).not.toContain('all given back');
    expect(code).toBe(0);
  });

  test('--idle ends it earlier, and says after what time', async () => {
    const { out, err } = await replay(['--apply', '--idle', '2'], given());
    expect(err).toBe('');
    expect(out).toContain('none was visible for 2 s, which is not to say that there is none');
  });
});

describe('where leases or the subscription fail', () => {
  const failing = (method: 'pull' | 'acknowledge' | 'release', error: Error, from = 1) => {
    const pubsub = given(letter('a'), letter('b'));
    const opening = pubsub.port.puller('');
    pubsub.port.puller = async () => {
      const opened = await opening;
      let calls = 0;
      return {
        ...opened,
        [method]: (...args: never[]) => {
          calls += 1;
          return calls < from ? (opened[method] as (...all: never[]) => unknown)(...args) : Promise.reject(error);
        },
      };
    };
    return pubsub;
  };

  test('letters that cannot be given back are counted, with how long they stay invisible, and the exit code is 1', async () => {
    const { code, out, err } = await replay([], failing('release', statusError(14, '14 UNAVAILABLE: gone')));
    expect(code).toBe(1);
    expect(err).toBe('2 messages could not be given back, and are visible again within 30 s: 14 UNAVAILABLE: gone');
    expect(out).toContain('2 letters in projects/p/subscriptions/dlq-reader, 2 not given back');
  });

  test('letters whose acknowledgement fails are told as published and not as acknowledged, and nothing more is published', async () => {
    const pubsub = failing('acknowledge', statusError(14, '14 UNAVAILABLE: gone'));
    const { code, out, err } = await replay(['--apply'], pubsub);
    expect(code).toBe(1);
    expect(err).toContain('2 letters were published and perhaps not acknowledged, and are then delivered once more');
    expect(out).toContain('2 letters published to projects/p/topics/dlq-orders-replay, 0 of them acknowledged');
  });

  test('a pull that fails in the middle ends the replay: what was done is told, and letters are given back', async () => {
    const pubsub = failing('pull', statusError(14, '14 UNAVAILABLE: gone'), 2);
    const { code, out, err } = await replay([], pubsub);
    expect(code).toBe(1);
    expect(out).toContain('2 letters in projects/p/subscriptions/dlq-reader, all given back; ended by an error');
    expect(err).toBe('error: 14 UNAVAILABLE: gone');
    expect(pubsub.letters).toHaveLength(2);
  });
});

describe('with --apply', () => {
  test('letters are published with their original attributes, then acknowledged', async () => {
    const pubsub = given(letter('a'), letter('b'));
    const { code, out } = await replay(['--apply', '--to', 'elsewhere'], pubsub);
    expect(code).toBe(0);
    expect(out).toBe('2 letters published to projects/p/topics/elsewhere and acknowledged; 0 given back');
    expect(pubsub.published[0]).toEqual({
      topic: 'projects/p/topics/elsewhere',
      data: Buffer.from('a'),
      attributes: republished(letter('a')).attributes,
    });
    expect(pubsub.events).toEqual(['published a', 'published b', 'acknowledged a', 'acknowledged b']);
    expect(pubsub.letters).toEqual([]);
    expect(pubsub.openPublishers.size).toBe(0);
  });

  test('letters go to the topic by which they come back, where no other is named', async () => {
    const named = configOf({ failurePolicy: 'dead-letter', deadLetter: { topic: 'dlq', replayTopic: 'again' } });
    for (const [config, topic] of [
      [CONFIG, 'projects/p/topics/dlq-orders-replay'],
      [named, 'projects/p/topics/again'],
    ] as const) {
      const pubsub = given(letter('a'));
      expect((await replay(['--apply'], pubsub, { config })).code).toBe(0);
      expect(pubsub.published.map((message) => message.topic)).toEqual([topic]);
    }
  });

  test('letters of a scan in the same topic are left with what to do, even of a pipeline of that name', async () => {
    const ofScan = (pipeline: string): PulledMessage => ({
      ...letter('row'),
      attributes: scanLetter({ pipeline }).attributes,
    });
    const pubsub = given(letter('a'), ofScan('orders'), ofScan('rows'));
    const { code, out, err } = await replay(['--apply'], pubsub);
    expect(out).toContain('1 letters published');
    expect(err).toBe(
      'letters of scans are left (2): they tell of rows that are still in their table, and are not replayed. Read the rows with a new run of the scan',
    );
    expect(pubsub.letters).toHaveLength(2);
    expect(code).toBe(0);
  });

  test('letters of a pipeline that the configuration lacks are left, and named with what to do', async () => {
    const pubsub = given(
      letter('a'),
      letter('b', { 'dlq-pipeline': 'sales' }),
      letter('c', { 'dlq-pipeline': 'sales' }),
    );
    const { out, err } = await replay(['--apply'], pubsub);
    expect(out).toContain('1 letters published');
    expect(err).toContain('letters of pipelines that the configuration lacks are left (sales: 2)');
    expect(err).toContain('deadLetter.acceptLettersOf: [sales]');
    expect(pubsub.letters.map(({ data }) => data.toString()).toSorted()).toEqual(['b', 'c']);

    const config = configOf({
      failurePolicy: 'dead-letter',
      deadLetter: { topic: 'dlq', acceptLettersOf: ['sales'] },
    });
    const taken = await replay(['--apply'], pubsub, { config });
    expect(taken).toMatchObject({ code: 0, err: '' });
    expect(taken.out).toContain('2 letters published to projects/p/topics/dlq-orders-replay');
    expect(pubsub.published.map(({ attributes }) => attributes['dlq-pipeline'])).toEqual(['orders', 'sales', 'sales']);
  });

  test('letters of another pipeline of the configuration are left without a word', async () => {
    const pipelines = JSON.parse(CONFIG) as { pipelines: Record<string, object> };
    const config = JSON.stringify({
      ...pipelines,
      pipelines: { ...pipelines.pipelines, clicks: { ...pipelines.pipelines.orders, topic: 'clicks' } },
    });
    const pubsub = given(letter('a'), letter('b', { 'dlq-pipeline': 'clicks' }));
    const { out, err } = await replay(['--apply'], pubsub, { config });
    expect([out.includes('1 left out'), err]).toEqual([true, '']);
    expect(pubsub.letters).toHaveLength(1);
  });

  test('a letter whose publish fails is given back and never acknowledged, and the others go on', async () => {
    const pubsub = given(letter('a'), letter('bad'), letter('c'));
    pubsub.refuse = ({ data }) => (data.toString() === 'bad' ? statusError(3, 'no') : undefined);
    const { code, err, out } = await replay(['--apply', '--to', 'elsewhere'], pubsub);
    expect(code).toBe(1);
    expect(err).toBe('1 letters were not published: no');
    expect(out).toContain('2 letters published');
    expect(out).toContain('1 given back');
    expect(pubsub.letters.map(({ data }) => data.toString())).toEqual(['bad']);
  });

  test('a topic that takes nothing ends the replay before the subscription is emptied', async () => {
    const pubsub = given(...Array.from({ length: 250 }, (_, index) => letter(String(index))));
    pubsub.refuse = () => statusError(5, 'no topic');
    const { code, out } = await replay(['--apply', '--to', 'nope'], pubsub);
    expect(code).toBe(1);
    expect(out).toContain('100 given back; ended because nothing could be published');
    expect(pubsub.letters).toHaveLength(250);
  });

  test('--max takes no more, and --rate paces and pulls no more than its leases last', async () => {
    const pubsub = given(...Array.from({ length: 10 }, (_, index) => letter(String(index))));
    const waits: number[] = [];
    await replay(['--apply', '--to', 'elsewhere', '--max', '3', '--rate', '0.01'], pubsub, { waits });
    expect(pubsub.published).toHaveLength(3);
    expect(pubsub.letters).toHaveLength(7);
    expect(pubsub.largestPull).toBe(3);
    expect(waits).toEqual([100_000, 100_000]);
    await replay(['--apply', '--to', 'elsewhere', '--rate', '0.01'], pubsub);
    expect(pubsub.letters).toEqual([]);
  });

  test('Ctrl-C acknowledges what was published and gives the rest back', async () => {
    const interrupted = new AbortController();
    const pubsub = given(letter('a'), letter('b'), letter('c'));
    pubsub.refuse = () => {
      interrupted.abort(new Error('interrupted'));
      return undefined;
    };
    const { code, out } = await replay(['--apply', '--to', 'elsewhere', '--rate', '1'], pubsub, {
      signal: interrupted.signal,
    });
    expect(code).toBe(130);
    expect(out).toContain('; interrupted');
    expect(pubsub.events).toEqual(['published a', 'acknowledged a']);
    expect(pubsub.letters.map(({ data }) => data.toString()).toSorted()).toEqual(['b', 'c']);
  });

  test('a letter goes back as it is, whatever the framing of the pipeline: the sink reads it by its attributes', async () => {
    const config = configOf({ framing: 'json-array', failurePolicy: 'dead-letter', deadLetter: { topic: 'dlq' } });
    const pubsub = given(letter('{"a":1}'), letter('entry', { 'dlq-payload': 'entry' }));
    await replay(['--apply', '--to', 'elsewhere'], pubsub, { config });
    expect(pubsub.published.map(({ data, attributes }) => [data.toString(), attributes['dlq-payload']])).toEqual([
      ['{"a":1}', 'record'],
      ['entry', 'entry'],
    ]);
  });
});

test('the help names every attribute of a letter, and what of it a replay takes off', async () => {
  const { out } = await run(['replay-dlq', '--help'], { config: CONFIG });
  for (const { name, atReplay } of letterAttributes) {
    const line = out.split('\n').find((text) => text.trim().startsWith(`${name} `));
    expect([name, line?.includes('taken off at replay')]).toEqual([name, atReplay === 'taken-off']);
  }
});

test('a staged sink that makes letters of rejected envelopes alone has letters to replay', async () => {
  const config = configOf({
    kind: 'staged-sink',
    markerFamily: 'applied',
    onRejected: 'dead-letter',
    deadLetter: { topic: 'dlq' },
  });
  const { code, out } = await replay(['--apply'], given(letter('a')), { config });
  expect([code, out]).toEqual([
    0,
    '1 letters published to projects/p/topics/dlq-orders-replay and acknowledged; 0 given back',
  ]);
});

describe('refuses', () => {
  test.each([
    [['--to', 'elsewhere'], '--to: needs --apply'],
    [['--apply', '--to', 'orders'], 'is the topic of the pipeline, where a letter is a record like others'],
    [['--apply', '--dry-run', '--to', 'elsewhere'], '--apply and --dry-run exclude each other'],
    [['--apply', '--to', 'dlq'], 'is the dead-letter topic itself'],
    [['--apply', '--to', 'projects/p/topics/dlq'], 'is the dead-letter topic itself'],
    [['--where', 'color'], '--where: must be name=value'],
    [['--max', '0'], 'It must be a whole number of at least 1.'],
  ])('%j', async (args, message) => {
    const { code, err } = await replay(args, given(letter('a')));
    expect(code).toBe(2);
    expect(err).toContain(message);
  });

  test('a pipeline without dead letters', async () => {
    const { code, err } = await replay([], given(), { config: configOf() });
    expect(code).toBe(1);
    expect(err).toContain('makes no dead letters: its failurePolicy is fail');
  });
});

test('only letters of this connector, of the pipeline and of those that it took over from are wanted', () => {
  const filter = { pipelines: ['orders', 'old-orders'], where: [], filedBefore: '2025-06-01T00:00:00.000Z' };
  expect(isWanted(letter('a'), filter)).toBe(true);
  expect(isWanted(letter('a', { 'dlq-pipeline': 'old-orders' }), filter)).toBe(true);
  expect(isWanted(letter('a', { 'dlq-pipeline': 'clicks' }), filter)).toBe(false);
  expect(isWanted(letter('a', { 'dlq-connector': 'spanner' }), filter)).toBe(false);
  expect(isWanted({ ...letter('a'), attributes: {} }, filter)).toBe(false);
  expect(isWanted(letter('a'), { ...filter, where: [['toString', 'x']] })).toBe(false);
  expect(isWanted(letter('a', { 'dlq-timestamp': '2025-07-01T00:00:00.000Z' }), filter)).toBe(false);
});

test('what describes the failure, and what Pub/Sub keeps for itself, is not published again', () => {
  const { attributes } = republished(letter('a', { googclient_schemaencoding: 'JSON' }));
  expect(attributes).toEqual({
    color: 'red',
    'dlq-connector': 'bigtable',
    'dlq-pipeline': 'orders',
    'dlq-destination': 'p.i.t',
    'dlq-payload': 'record',
    'dlq-original-message-id': 'original-a',
  });
});
