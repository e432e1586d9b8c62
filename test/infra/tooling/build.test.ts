import { mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLocalCloud, type LocalCloud } from '../../../infra/local/cloud/cloud.ts';
import { startFunctionProcess, type FunctionProcess } from '../../../infra/local/run/function-process.ts';
import { SubscriberDefinition } from '../../../shared/proto/google/pubsub/v1/pubsub.ts';
import { ensureSubscription } from '../../../infra/local/cloud/pubsub-resources.ts';
import { ensureTables } from '../../../infra/local/cloud/table-resources.ts';
import { unary } from '../../../infra/local/cloud/unary.ts';
import { bundleFunctions } from '../../../infra/tooling/bundle.ts';
import { ConfigError } from '../../../shared/base/errors.ts';
import { connect, readRows } from '../../support/bigtable-raw-client.ts';
import { connectTo } from '../../../infra/local/servers/rpc/client.ts';

const demoConfig = resolve(import.meta.dirname, '../../../infra/local/demo/flights/connector.yaml');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bundle-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

/** The one dependency of the artefact, as an install in its folder would provide it. */
async function installFramework(bundle: string): Promise<void> {
  const name = '@google-cloud/functions-framework';
  await mkdir(join(bundle, 'node_modules/@google-cloud'), { recursive: true });
  await symlink(dirname(findPackageJSON(name, import.meta.url)!), join(bundle, 'node_modules', name));
}

const push = (url: string, messageId: string, data: unknown): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      message: {
        messageId,
        publishTime: '2026-01-01T00:00:00.000Z',
        data: Buffer.from(JSON.stringify(data)).toString('base64'),
      },
      subscription: 'projects/local/subscriptions/flights-flights',
    }),
  });

describe('a bundle with a configuration and its TypeScript serializer', () => {
  const deadLetters = 'projects/local/subscriptions/flights-dead-letters-reader';
  let cloud: LocalCloud;
  let bundle: string;
  let instance: FunctionProcess | undefined;

  beforeAll(async () => {
    cloud = await startLocalCloud({ env: {} });
    const name = { project: 'local', instance: 'demo', table: 'flights' };
    await ensureTables(cloud.bigtableHost, [{ name, families: { flight: {} } }]);
    const topic = 'projects/local/topics/flights-dead-letters';
    const reader = { topic, name: deadLetters, isOrdered: false, ackDeadlineSeconds: 60 };
    await ensureSubscription(cloud.pubsubHost, reader);
    bundle = join(folder, 'demo');
    await bundleFunctions({ outDirectory: bundle, configFile: demoConfig });
    await installFramework(bundle);
    instance = await startFunctionProcess('bulkSink', { source: bundle, env: cloud.env });
  });
  afterAll(async () => {
    await instance?.kill();
    await cloud.close();
  });

  test('starts as a process without any TypeScript source and writes a pushed record', async () => {
    const record = { key: 'flight#1', departureMicros: '1000', delay: 5, distance: 400 };
    expect((await push(instance!.url, '1', record)).status).toBe(204);
    const client = connect(cloud.bigtableHost);
    const rows = await readRows(client, 'projects/local/instances/demo/tables/flights');
    client.close();
    expect(rows.map(({ key, cells }) => ({ key, summary: cells.at(-1) }))).toEqual([
      { key: 'flight#1', summary: 'flight:summary@1000=400 miles, 5 minutes late' },
    ]);
  });

  test('publishes a dead letter with the bundled Pub/Sub client', async () => {
    expect((await push(instance!.url, '2', { key: '', departureMicros: '0', delay: 0, distance: 400 })).status).toBe(
      204,
    );
    const subscriber = connectTo(SubscriberDefinition, cloud.pubsubHost);
    const { receivedMessages } = await unary(subscriber.pull.bind(subscriber), {
      subscription: deadLetters,
      returnImmediately: false,
      maxMessages: 1,
    });
    subscriber.close();
    expect(receivedMessages[0]?.message?.attributes).toMatchObject({ 'dlq-original-message-id': '2' });
  });

  test('drains at SIGTERM and exits 0', async () => {
    expect(await instance!.stop()).toEqual({ code: 0, signal: null });
  });

  test('depends on the functions framework alone', async () => {
    const manifest: unknown = JSON.parse(await readFile(join(bundle, 'package.json'), 'utf8'));
    expect(Object.keys((manifest as { dependencies: object }).dependencies)).toEqual([
      '@google-cloud/functions-framework',
    ]);
  });

  test('loads neither the Pub/Sub client, the table admin API nor the configuration parser before they are needed', async () => {
    const eager = await Promise.all([...(await eagerFiles(bundle))].map((file) => readFile(file, 'utf8')));
    const code = eager.join('\n');
    expect(code).toContain('MutateRows');
    expect(code).not.toMatch(/ZodError|YAMLParseError|google\.pubsub\.v1|BigtableTableAdmin/);
  });

  test('is replaced by the next bundle in the same folder, which reads the configuration that the environment names', async () => {
    await bundleFunctions({ outDirectory: bundle });
    expect(await readdir(bundle)).not.toContain('connector.json');
    await installFramework(bundle);
    const CONNECTOR_CONFIG =
      'pipelines: {one: {kind: bulk-sink, topic: abc, destinationAttribute: table, serializer: entry}}';
    const lines: string[] = [];
    instance = await startFunctionProcess('bulkSink', {
      source: bundle,
      env: { ...cloud.env, CONNECTOR_CONFIG },
      onLine: (line) => lines.push(line),
    });
    expect(lines.join('\n')).toContain('bulk sink started');
  });
});

/** The files that the start of a bulk sink loads: from the entry point's chunk along its static imports. */
async function eagerFiles(bundle: string): Promise<Set<string>> {
  const chunks = join(bundle, 'chunks');
  const entry = (await readdir(chunks)).find((name) => /^bulk-sink-\w+\.js$/.test(name));
  const found = new Set<string>();
  const visit = async (file: string): Promise<void> => {
    if (found.has(file)) return;
    found.add(file);
    for (const [, next] of (await readFile(file, 'utf8')).matchAll(/\bfrom"(\.\/[^"]+)"/g)) {
      await visit(join(chunks, next!));
    }
  };
  await visit(join(chunks, entry!));
  return found;
}

describe('a bundle is refused, and nothing is written,', () => {
  const bundled = async (name: string, pipeline: string): Promise<unknown> => {
    const configFile = join(folder, `${name}.yaml`);
    await writeFile(configFile, `pipelines:\n  one:\n${pipeline.replaceAll(/^/gm, '    ')}`);
    const failure = await bundleFunctions({ outDirectory: join(folder, name), configFile }).catch(
      (error: unknown) => error,
    );
    expect(await readdir(folder)).not.toContain(name);
    return failure;
  };
  const sink = 'kind: bulk-sink\ntopic: t1a\ntable: {project: p, instance: i, table: t}\n';

  test('where the configuration is wrong', async () => {
    expect(await bundled('wrong', `${sink}serializer: entry\nframing: csv\n`)).toBeInstanceOf(ConfigError);
  });

  test('where a key would have to be carried along', async () => {
    const failure = await bundled('key', `${sink}serializer: entry\nserviceAccountKeyFile: ./key.json\n`);
    expect(String(failure)).toMatch(/pipelines\.one\.serviceAccountKeyFile: must be an absolute path in a bundle/);
  });

  test('where a serializer does not exist', async () => {
    const failure = await bundled('absent', `${sink}serializer: {module: ./absent.ts}\n`);
    expect(String(failure)).toMatch(/pipelines\.one\.serializer\.module: must be a module that exists/);
  });

  test.each([
    ['/etc/hostname', 'must be a JavaScript or TypeScript module: .js, .mjs, .cjs, .ts, .mts or .cts'],
    ['./linked.ts', 'must be a JavaScript or TypeScript module'],
    [
      join(import.meta.dirname, '../../support/modules/function-serializer.ts'),
      'must be within the project, which is ',
    ],
    ['.', 'must be a module, which is a file and no folder'],
    ['file:///etc/hostname', 'must be the path of a file, not a URL'],
  ])('where a serializer is no module of the project: %s', async (module, rule) => {
    await rm(join(folder, 'linked.ts'), { force: true });
    await symlink('/etc/hostname', join(folder, 'linked.ts'));
    const failure = await bundled('odd', `${sink}serializer: {module: ${JSON.stringify(module)}}\n`);
    expect(failure).toBeInstanceOf(ConfigError);
    expect(String(failure)).toContain(`pipelines.one.serializer.module: ${rule}`);
  });

  test('where the folder holds something else', async () => {
    const foreign = join(folder, 'foreign');
    await mkdir(foreign);
    await writeFile(join(foreign, 'diary.txt'), 'mine');
    await expect(bundleFunctions({ outDirectory: foreign })).rejects.toThrow(/holds files that are no bundle/);
    expect(await readdir(foreign)).toEqual(['diary.txt']);
  });
});
