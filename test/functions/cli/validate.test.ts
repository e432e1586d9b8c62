import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTerminal } from '../../../functions/cli/terminal.ts';
import { createTally, progressLine } from '../../../functions/cli/publish/tally.ts';
import { FakePubSub, configOf, run } from './fakes.ts';

test('a right configuration is a table of its pipelines', async () => {
  const config = configOf({
    failurePolicy: 'dead-letter',
    deadLetter: { topic: 'dlq' },
    destinationAttribute: 'table',
  });
  const { code, out, err } = await run(['validate'], { config });
  expect(code).toBe(0);
  expect(err).toBe('');
  expect(out.split('\n')[1]).toBe(
    'orders    bulk-sink  projects/p/topics/orders  attribute table, else p.i.t  entry       single   dead-letter to projects/p/topics/dlq',
  );
});

test('pipelines of every kind are in the table, a staged sink with both of its policies', async () => {
  const place = { project: 'p', instance: 'i', table: 't', topic: 'orders' };
  const config = JSON.stringify({
    pipelines: {
      staged: {
        kind: 'staged-sink',
        ...place,
        serializer: 'entry',
        markerFamily: 'm',
        onRejected: 'dead-letter',
        deadLetter: { topic: 'dlq' },
      },
      asked: { kind: 'request-sink', ...place, serializer: 'request', failurePolicy: 'log-and-drop' },
    },
  });
  const { code, out } = await run(['validate'], { config });
  expect(code).toBe(0);
  expect(out).toMatch(
    /^staged +staged-sink .* entry +single +fail; rejected: dead-letter to projects\/p\/topics\/dlq$/m,
  );
  expect(out).toMatch(/^asked +request-sink .* request +single +log-and-drop$/m);
  const { out: resolved } = await run(['validate', '--resolved'], { config });
  expect((await run(['validate', '--resolved'], { config: resolved })).out).toBe(resolved);
});

test('every problem of a wrong one is printed, without a stack', async () => {
  const { code, err } = await run(['validate'], { config: configOf({ framing: 'csv', linger: '1s' }) });
  expect(code).toBe(1);
  expect(err).toMatch(
    /^error: CONNECTOR_CONFIG: 2 problems\n {2}pipelines\.orders\.linger: .*\n {2}pipelines\.orders\.framing: /,
  );
  expect(err).not.toContain('    at ');
});

test('warnings are printed beside the result', async () => {
  const config = configOf({ writerOptions: { maxInFlightEntries: 30_000 } });
  const { code, out, err } = await run(['validate', '--resolved'], { config });
  expect(code).toBe(0);
  expect(err).toMatch(/^warning: pipelines\.orders\.writerOptions\.maxInFlightEntries: 30000/);
  expect(JSON.parse(out)).toMatchObject({ resolved: 2, pipelines: { orders: { kind: 'bulk-sink' } } });
});

test('what is resolved validates again to the same', async () => {
  const { out } = await run(['validate', '--resolved'], { config: configOf() });
  expect((await run(['validate', '--resolved'], { config: out })).out).toBe(out);
});

test('the outcome as JSON', async () => {
  const right = await run(['validate', '--json'], { config: configOf() });
  expect(JSON.parse(right.out)).toEqual({
    ok: true,
    problems: [],
    warnings: [],
    pipelines: [{ name: 'orders', kind: 'bulk-sink' }],
  });
  const wrong = await run(['validate', '--json'], { config: configOf({ framing: 'csv' }) });
  expect(wrong.code).toBe(1);
  expect(JSON.parse(wrong.out)).toMatchObject({ ok: false, problems: [{ path: 'pipelines.orders.framing' }] });
});

test('the path of a key is in the resolved document alone', async () => {
  const config = configOf({ serviceAccountKeyFile: '/hidden/key.json' });
  for (const args of [['validate'], ['validate', '--json']]) {
    const { out, err } = await run(args, { config });
    expect(out + err).not.toContain('hidden');
  }
});

describe('a module that is named as serializer', () => {
  const modules = join(import.meta.dirname, '../../support/modules');
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'connector-modules-'));
    await mkdir(join(folder, 'folder'));
    await writeFile(join(folder, 'broken.mjs'), 'export default (');
  });
  afterAll(() => rm(folder, { recursive: true }));
  const validated = (module: string, args: readonly string[] = []) =>
    run(['validate', ...args], { config: configOf({ serializer: { module } }) });

  test.each([
    ['absent.ts', /serializer\.module: must be a module that loads, .*Cannot find module.*, got "\S*absent\.ts"$/m],
    ['folder', /serializer\.module: must be a module, which is a file and no folder, got "\S*folder"$/m],
    ['broken.mjs', /serializer\.module: must be a module that loads, .*, got "\S*broken\.mjs"$/m],
  ])('is refused with its path, rule and value: %s', async (name, message) => {
    const { code, out, err } = await validated(join(folder, name));
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/^error: CONNECTOR_CONFIG: 1 problem\n {2}pipelines\.orders\.serializer\.module: /);
    expect(err).toMatch(message);
  });

  test.each(['file:///tmp/serializer.mjs', 'https://example.com/m.js', 'data:text/javascript,export default 1'])(
    'is refused where it is a URL: %s',
    async (module) => {
      const { code, err } = await validated(module);
      expect(code).toBe(1);
      expect(err).toContain(
        `pipelines.orders.serializer.module: must be the path of a file, not a URL, got ${JSON.stringify(module)}`,
      );
    },
  );

  test.each([
    ['no-default.ts', 'undefined'],
    ['wrong-members.ts', 'object'],
  ])('is refused where it exports no serializer: %s', async (name, got) => {
    const { code, err } = await validated(join(modules, name));
    expect(code).toBe(1);
    expect(err).toMatch(
      new RegExp(
        `must have a default export that is a function or an object .*, got "\\S*${name}", whose default export is of type ${got}$`,
      ),
    );
  });

  test('is told in JSON, too', async () => {
    const { code, out } = await validated(join(folder, 'absent.ts'), ['--json']);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ ok: false, problems: [{ path: 'pipelines.orders.serializer.module' }] });
  });

  test('passes where it exports a serializer, and is not opened', async () => {
    for (const name of ['function-serializer.ts', 'object-serializer.ts', 'plain-serializer.js', 'open-fails.ts']) {
      expect((await validated(join(modules, name))).code).toBe(0);
    }
  });
});

describe('the command line', () => {
  test.each([
    [['--help'], 0],
    [['publish', '--help'], 0],
    [['help', 'replay-dlq'], 0],
    [[], 2],
    [['frobnicate'], 2],
    [['publish'], 2],
    [['validate', '--strange'], 2],
  ])('%j ends with %i and a word of help', async (argv, code) => {
    const result = await run(argv, { config: configOf() });
    expect(result.code).toBe(code);
    expect(result.out + result.err).toMatch(/Usage: connector|--help/);
  });

  test('a fault of ours has its stack and exit code 70', async () => {
    const pubsub = new FakePubSub();
    pubsub.port.publisher = () => Promise.reject(new TypeError('a bug'));
    const { code, err } = await run(['publish', 'orders'], { config: configOf(), pubsub });
    expect(code).toBe(70);
    expect(err).toMatch(/^TypeError: a bug\n {4}at /);
  });
});

describe('the status line', () => {
  const capture = () => {
    const written: string[] = [];
    return { written, write: (text: string): boolean => written.push(text) > 0 };
  };

  test('is drawn on a terminal only, not more often than ten times a second, and gives way to text', () => {
    const [out, err] = [capture(), capture()];
    let now = 0;
    const terminal = createTerminal(out, { ...err, isTTY: true }, () => now);
    terminal.status('one');
    now = 99;
    terminal.status('two');
    now = 100;
    terminal.status('three');
    terminal.print('result');
    expect(err.written).toEqual(['\r\u001b[Kone', '\r\u001b[Kthree', '\r\u001b[K']);
    expect(out.written).toEqual(['result\n']);
  });

  test('is not drawn where nobody watches', () => {
    const [out, err] = [capture(), capture()];
    createTerminal(out, { ...err, isTTY: false }).status('one');
    expect(err.written).toEqual([]);
  });

  const progress = (
    published: number,
    failed: number,
    read: number,
    bytesRead: number,
    totalBytes?: number,
  ): string => {
    const tally = { ...createTally(), publishedRecords: published, failedRecords: failed };
    return progressLine({ tally, read: { records: read, bytesRead }, elapsedMillis: 4_000, totalBytes });
  };

  test('tells what is published apart from what was read, and is never at its end before the last confirmation', () => {
    expect(progress(12_000, 0, 12_000, 40, 100)).toBe('12,000 published, 12,000 read, 3,000/s, 40 %, about 6 s left');
    expect(progress(57, 0, 200, 100, 100)).toBe('57 published, 200 read, 14/s, 28 %, about 11 s left');
    expect(progress(0, 0, 200, 100, 100)).toBe('0 published, 200 read, 0/s, 0 %');
    expect(progress(197, 3, 200, 100, 100)).toBe('197 published, 200 read, 3 failed, 49/s, 100 %, about 0 s left');
  });

  test('knows no share where the size of the input is not known', () => {
    expect(progress(10, 0, 20, 9)).toBe('10 published, 20 read, 3/s');
    expect(progress(0, 0, 0, 0, 0)).toBe('0 published, 0 read, 0/s');
  });
});

test('the module of a scan is loaded as a form: a serializer is none', async () => {
  const modules = join(import.meta.dirname, '../../support/modules');
  const scan = { kind: 'scan-source', project: 'p', instance: 'i', table: 't', outputTopic: 'rows' };
  const validated = (module: string) =>
    run(['validate'], {
      config: JSON.stringify({ pipelines: { rows: { ...scan, form: { module: join(modules, module) } } } }),
    });
  expect((await validated('row-module.ts')).code).toBe(0);
  const { code, err } = await validated('object-serializer.ts');
  expect(code).toBe(1);
  expect(err).toContain(
    'pipelines.rows.form.module: must have a default export that is a function or an object with a function "messages"',
  );
});
