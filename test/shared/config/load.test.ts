import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ConfigError } from '../../../shared/base/errors.ts';
import { loadConfig, loadPipeline } from '../../../shared/config/load.ts';
import type { ConfigFiles } from '../../../shared/config/ports.ts';

const ONE = `
defaults: { project: p, instance: i }
pipelines:
  orders: { kind: bulk-sink, topic: orders, table: rows, serializer: entry }
`;
const TWO = `${ONE}  clicks: { kind: bulk-sink, topic: clicks, table: rows, serializer: entry, writerOptions: { maxInFlightEntries: 20001 } }\n`;

/** A disk that holds these files, by absolute path. */
const disk = (texts: Readonly<Record<string, string>>): ConfigFiles => ({
  workingDirectory: '/srv',
  readText: (path) => {
    const text = texts[path];
    return text === undefined ? Promise.reject(new Error(`ENOENT: ${path}`)) : Promise.resolve(text);
  },
  readTextNow: (path) => {
    const text = texts[path];
    if (text === undefined) throw new Error(`ENOENT: ${path}`);
    return text;
  },
});

const load = (env: Record<string, string>, texts: Record<string, string> = {}) =>
  loadPipeline(env, 'bulk-sink', disk(texts));

const messageOf = async (loading: Promise<unknown>): Promise<string> => {
  const error: unknown = await loading.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConfigError);
  return error instanceof Error ? error.message : '';
};

test('the only pipeline needs no name, and the file is connector.yaml of the working directory', async () => {
  const { name, baseDirectory, pipeline } = await load({}, { '/srv/connector.yaml': ONE });
  expect({ name, baseDirectory }).toEqual({ name: 'orders', baseDirectory: '/srv' });
  expect(pipeline.input.topic).toBe('projects/p/topics/orders');
});

test('relative paths belong to the directory of the file that was named', async () => {
  const { baseDirectory } = await load({ CONNECTOR_CONFIG_FILE: 'conf/a.yaml' }, { '/srv/conf/a.yaml': ONE });
  expect(baseDirectory).toBe('/srv/conf');
});

test('the text may stand in the environment, as YAML or as JSON', async () => {
  const fromYaml = await load({ CONNECTOR_CONFIG: ONE });
  const json = JSON.stringify({
    defaults: { project: 'p', instance: 'i' },
    pipelines: { orders: { kind: 'bulk-sink', topic: 'orders', table: 'rows', serializer: 'entry' } },
  });
  expect(await load({ CONNECTOR_CONFIG: json })).toEqual(fromYaml);
});

test('text and file exclude each other', async () => {
  const message = await messageOf(load({ CONNECTOR_CONFIG: ONE, CONNECTOR_CONFIG_FILE: 'a.yaml' }));
  expect(message).toContain('CONNECTOR_CONFIG: must not be set beside CONNECTOR_CONFIG_FILE');
});

test('several pipelines need a name, and the error lists them', async () => {
  expect(await messageOf(load({ CONNECTOR_CONFIG: TWO }))).toContain(
    'CONNECTOR_PIPELINE: is required because there are several pipelines of kind bulk-sink: orders, clicks, got nothing',
  );
  expect((await load({ CONNECTOR_CONFIG: TWO, CONNECTOR_PIPELINE: 'clicks' })).name).toBe('clicks');
});

test.each(['order', 'constructor', '__proto__'])('a name that no pipeline has is refused: %s', async (name) => {
  expect(await messageOf(load({ CONNECTOR_CONFIG: TWO, CONNECTOR_PIPELINE: name }))).toContain(
    `CONNECTOR_PIPELINE: must name a pipeline of kind bulk-sink (there is: orders, clicks), got "${name}"`,
  );
});

test('a function refuses a pipeline of a kind that it does not serve', async () => {
  const other = JSON.stringify({ resolved: 2, pipelines: { scans: { kind: 'scan-source' } } });
  expect(await messageOf(load({ CONNECTOR_CONFIG: other, CONNECTOR_PIPELINE: 'scans' }))).toContain('(there is: none)');
  expect(await messageOf(load({ CONNECTOR_CONFIG: other }))).toContain('holds no pipeline of kind bulk-sink');
});

test('a function hears only the warnings of its own pipeline', async () => {
  expect((await load({ CONNECTOR_CONFIG: TWO, CONNECTOR_PIPELINE: 'orders' })).warnings).toEqual([]);
  const { warnings } = await load({ CONNECTOR_CONFIG: TWO, CONNECTOR_PIPELINE: 'clicks' });
  expect(warnings).toEqual([expect.stringContaining('pipelines.clicks.writerOptions.maxInFlightEntries: 20001')]);
});

test('a resolved document gives what the document that it was made of gives', async () => {
  const { config } = await loadConfig({ CONNECTOR_CONFIG: TWO }, disk({}));
  const bundle = JSON.stringify(config);
  expect((await loadConfig({ CONNECTOR_CONFIG: bundle }, disk({}))).config).toEqual(config);
});

test('a resolved document of another version is refused', async () => {
  expect(await messageOf(load({ CONNECTOR_CONFIG: '{"resolved": 1, "pipelines": {}}' }))).toContain(
    'resolved: must be 2, the version that this connector reads; resolve the configuration again, got 1',
  );
});

test('a file that cannot be read is a problem of the configuration', async () => {
  expect(await messageOf(load({ CONNECTOR_CONFIG_FILE: 'no.yaml' }))).toBe(
    'no.yaml: 1 problem\n  file: must be a readable file; CONNECTOR_CONFIG_FILE or the command line names another one, got ENOENT: /srv/no.yaml',
  );
});

test.each([
  ['an open bracket', 'pipelines:\n  a: [1\n', 'line 3, column 1: must be YAML'],
  ['a key twice', 'pipelines:\n  a: 1\n  a: 2\n', 'line 3, column 3: must be YAML: Map keys must be unique'],
  ['broken JSON', '{"pipelines": {,}}', 'line 1, column 16: must be YAML'],
  ['an alias without anchor', 'pipelines: *none\n', 'must be YAML'],
])('a syntax error has its line and column: %s', async (_, text, expected) => {
  expect(await messageOf(load({ CONNECTOR_CONFIG: text }))).toContain(expected);
});

test('aliases that expand without bound are refused', async () => {
  const level = (name: string, of: string): string => `${name}: &${name} [${Array(10).fill(`*${of}`).join(', ')}]\n`;
  const bomb = `a: &a [x, x]\n${level('b', 'a')}${level('c', 'b')}${level('d', 'c')}${level('e', 'd')}`;
  expect(await messageOf(load({ CONNECTOR_CONFIG: bomb }))).toContain('expand to a bounded size');
});

test('a resolved document loads neither zod nor yaml, and any other document both', async () => {
  const importsFor = async (text: string): Promise<string[]> => {
    const script = `
      import { registerHooks } from 'node:module';
      const seen = [];
      registerHooks({ resolve: (name, context, next) => (seen.push(name), next(name, context)) });
      const { loadPipeline } = await import(${JSON.stringify(new URL('../../../shared/config/load.ts', import.meta.url).href)});
      await loadPipeline({ CONNECTOR_CONFIG: ${JSON.stringify(text)} }, 'bulk-sink');
      console.log(JSON.stringify(seen.filter((name) => name === 'zod' || name === 'yaml')));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
    return [...new Set(JSON.parse(stdout) as string[])].toSorted();
  };
  const { config } = await loadConfig({ CONNECTOR_CONFIG: ONE }, disk({}));
  expect(await importsFor(JSON.stringify(config))).toEqual([]);
  expect(await importsFor(ONE)).toEqual(['yaml', 'zod']);
});
