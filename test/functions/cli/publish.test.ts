import { describe, expect, test } from 'vitest';
import { FakePubSub, configOf, run, statusError } from './fakes.ts';

const publish = (args: readonly string[], given: Omit<Parameters<typeof run>[1], 'config'> & { config?: string }) =>
  run(['publish', 'orders', ...args], { config: configOf(), ...given });

test('records of standard input go to the topic of the pipeline, bytes as they are', async () => {
  const pubsub = new FakePubSub();
  const { code, out } = await publish(['-a', 'k=v'], { pubsub, stdin: '{"a": 10000000001922600}\n{"b":2}\n' });
  expect(code).toBe(0);
  expect(pubsub.published.map(({ topic, data, attributes }) => [topic, data.toString(), attributes])).toEqual([
    ['projects/p/topics/orders', '{"a": 10000000001922600}', { k: 'v' }],
    ['projects/p/topics/orders', '{"b":2}', { k: 'v' }],
  ]);
  expect(out).toBe('published 2 records in 2 messages (31 bytes) to projects/p/topics/orders in 0.0 s; failed 0');
  expect(pubsub.openPublishers.size).toBe(0);
});

test('files are read in order, and packed as the framing says', async () => {
  const pubsub = new FakePubSub();
  const files = { 'a.json': '[1, 2,\n3]', 'b.json': '[4]' };
  await publish(['-f', 'json-array', '-n', '3', 'a.json', 'b.json'], {
    pubsub,
    files,
    config: configOf({ framing: 'json-array' }),
  });
  expect(pubsub.published.map(({ data }) => data.toString())).toEqual(['[1,2,3]', '[4]']);
});

test('records that cannot be published are named by line, the others are published, and the exit code is 1', async () => {
  const pubsub = new FakePubSub();
  const files = { 'a.ndjson': '{}\nno\n{"u":"k"}\n' };
  const { code, err, out } = await publish(['--ordering-field', 'u', 'a.ndjson'], { pubsub, files });
  expect(code).toBe(1);
  expect(err).toContain('a.ndjson, line 1: has no text or exact number in the field "u"');
  expect(err).toContain('a.ndjson, line 2: is not JSON');
  expect(out).toContain('published 1 records in 1 messages');
  expect(out).toContain('failed 2');
});

test('a message that Pub/Sub refuses is named by its lines', async () => {
  const pubsub = new FakePubSub();
  pubsub.refuse = ({ data }) => (data.includes('bad') ? statusError(3, '3 INVALID_ARGUMENT: no') : undefined);
  const { code, err, out } = await publish(['-f', 'lines', '-n', '2'], {
    pubsub,
    stdin: 'a\nb\nbad\n\nd\ne\n',
    config: configOf({ framing: 'ndjson' }),
  });
  expect(code).toBe(1);
  expect(err).toBe('standard input, lines 3-5: 3 INVALID_ARGUMENT: no');
  expect(out).toContain('published 3 records in 2 messages');
  expect(out).toContain('failed 2');
});

test.each([
  [5, 'NOT_FOUND'],
  [7, 'PERMISSION_DENIED'],
  [14, 'UNAVAILABLE'],
])('an answer that every message would get ends the command: %i %s', async (code, name) => {
  const pubsub = new FakePubSub();
  let refusals = 0;
  pubsub.refuse = () => {
    refusals += 1;
    return statusError(code, `${code} ${name}: topic`);
  };
  const stdin = '{}\n'.repeat(100_000);
  const run = await publish([], { pubsub, stdin });
  expect(run.code).toBe(1);
  expect(run.err).toContain(`stopped before the end of the input: ${code} ${name}: topic`);
  expect(refusals).toBeLessThan(10_000);
});

test('with one ordering key for all messages the first failure ends the command, whatever the status', async () => {
  const pubsub = new FakePubSub();
  let refusals = 0;
  pubsub.refuse = () => {
    refusals += 1;
    return statusError(3, '3 INVALID_ARGUMENT: no');
  };
  const { code, err } = await publish(['--ordering-key', 'k'], { pubsub, stdin: '{}\n'.repeat(100_000) });
  expect(code).toBe(1);
  expect(err).toContain('stopped before the end of the input: 3 INVALID_ARGUMENT: no');
  expect(refusals).toBeLessThan(10_000);
});

test('of many failures twenty are shown and all are counted', async () => {
  const { err } = await publish([], { stdin: 'no\n'.repeat(30) });
  expect(err.split('\n')).toHaveLength(21);
  expect(err).toContain('… 30 records failed in all');
});

test('no more is on its way than the window holds', async () => {
  const pubsub = new FakePubSub();
  let onTheirWay = 0;
  let most = 0;
  const { port } = pubsub;
  const slow = {
    ...port,
    publisher: async (...args: Parameters<typeof port.publisher>) => ({
      ...(await port.publisher(...args)),
      publish: async () => {
        onTheirWay += 1;
        most = Math.max(most, onTheirWay);
        await new Promise(setImmediate);
        onTheirWay -= 1;
      },
    }),
  };
  Object.assign(pubsub, { port: slow });
  const { code } = await publish([], { pubsub, stdin: '1\n'.repeat(20_000) });
  expect(code).toBe(0);
  expect(most).toBe(4_000);
});

test('a rate is kept', async () => {
  const waits: number[] = [];
  await publish(['--rate', '10'], { stdin: '1\n2\n3\n', waits });
  expect(waits).toEqual([100, 100]);
});

test('a dry run reads and packs, and opens nothing', async () => {
  const pubsub = new FakePubSub();
  pubsub.port.publisher = () => Promise.reject(new Error('opened'));
  const { code, out, err } = await publish(['--dry-run', '--rate', '1'], { pubsub, stdin: '1\nno\n2\n' });
  expect(out).toContain('would publish 2 records in 2 messages (2 bytes)');
  expect(err).toContain('line 2: is not JSON');
  expect(code).toBe(1);
});

test('Ctrl-C stops reading, settles what was begun and reports', async () => {
  const interrupted = new AbortController();
  const pubsub = new FakePubSub();
  pubsub.refuse = () => {
    interrupted.abort(new Error('interrupted'));
    return undefined;
  };
  const { code, out, err } = await publish(['--rate', '1'], { pubsub, stdin: '1\n2\n3\n', signal: interrupted.signal });
  expect(code).toBe(130);
  expect(err).toContain('stopped before the end of the input: interrupted');
  expect(out).toContain('published 1 records');
});

test('an input that breaks in the middle is told after the account of what was published', async () => {
  const files = { 'a.json': '[1]', 'b.json': '[2}' };
  const { code, out, err } = await publish(['-f', 'json-array', 'a.json', 'b.json'], { files });
  expect(code).toBe(1);
  expect(out).toContain('published 1 records in 1 messages');
  expect(err).toContain(
    'stopped before the end of the input: the input cannot be read further\nerror: b.json, line 1: brackets do not match',
  );
});

test('Ctrl-C after the last confirmation has interrupted nothing', async () => {
  const interrupted = new AbortController();
  const pubsub = new FakePubSub();
  const { port } = pubsub;
  Object.assign(pubsub, {
    port: {
      ...port,
      publisher: async (...args: Parameters<typeof port.publisher>) => ({
        ...(await port.publisher(...args)),
        close: () => {
          interrupted.abort(new Error('interrupted'));
          return Promise.resolve();
        },
      }),
    },
  });
  const { code, out } = await publish([], { pubsub, stdin: '1\n2\n', signal: interrupted.signal });
  expect([code, out.slice(0, 19)]).toEqual([0, 'published 2 records']);
});

describe('options that cannot go together are refused', () => {
  test.each([
    [['-n', '2'], {}, '--records-per-message: the framing of the pipeline is single'],
    [['-n', '100001'], { framing: 'ndjson' }, '--records-per-message: must be at most 100000'],
    [['-n', '2', '-f', 'raw'], { framing: 'ndjson' }, 'with --format raw each file is one message'],
    [['-f', 'lines'], { framing: 'json-array' }, 'which holds only JSON'],
    [['-n', '0'], {}, 'It must be a whole number of at least 1.'],
    [['--rate', '-1'], {}, 'It must be a number above 0.'],
    [['-f', 'csv'], {}, 'Allowed choices are ndjson, json-array, lines, raw.'],
    [['-a', 'novalue'], {}, '--attribute: must be name=value'],
    [['missing.ndjson'], {}, 'ENOENT: missing.ndjson'],
  ])('%j', async (args, options, message) => {
    const { code, err } = await publish(args, { config: configOf(options), stdin: '1\n' });
    expect(code).toBe(message.startsWith('ENOENT') ? 1 : 2);
    expect(err).toContain(message);
    expect(err).not.toContain('    at ');
  });
});

test('ordering that only one side knows of is a warning', async () => {
  const ordered = await publish([], { config: configOf({ ordering: 'row' }), stdin: '1\n' });
  expect(ordered.err).toContain('warning: the pipeline is ordered, but without an ordering key');
  const unordered = await publish(['--ordering-key', 'k'], { stdin: '1\n' });
  expect(unordered.err).toContain('warning: messages have an ordering key, but the pipeline is not ordered');
});

test('a bare topic without a project belongs to GOOGLE_CLOUD_PROJECT', async () => {
  const config = JSON.stringify({
    pipelines: { orders: { kind: 'bulk-sink', topic: 'orders', destinationAttribute: 't', serializer: 'entry' } },
  });
  const pubsub = new FakePubSub();
  await publish([], { config, pubsub, stdin: '1\n', env: { GOOGLE_CLOUD_PROJECT: 'q' } });
  expect(pubsub.published[0]?.topic).toBe('projects/q/topics/orders');
  expect((await publish([], { config, stdin: '1\n' })).err).toContain('orders is a bare id: set "project"');
});

test('an unknown pipeline is refused with those there are', async () => {
  const { code, err } = await run(['publish', 'order'], { config: configOf() });
  expect(code).toBe(1);
  expect(err).toBe('error: CONNECTOR_CONFIG has no pipeline "order" (there is: orders)');
});
