import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { carryConfig } from '../../../infra/tooling/bundle-config.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'connector-bundle-'));
});
afterAll(() => rm(folder, { recursive: true }));

const scan = { kind: 'scan-source', project: 'p', instance: 'i', table: 't', outputTopic: 'rows' };

async function carried(module: string) {
  const file = join(folder, 'connector.json');
  await writeFile(file, JSON.stringify({ pipelines: { rows: { ...scan, form: { module, options: { n: 1 } } } } }));
  return carryConfig(file);
}

test('the module of a scan goes into the bundle, and is named by where it is there', async () => {
  await writeFile(join(folder, 'my.mjs'), 'export default () => [];');
  const { config, serializers } = await carried('./my.mjs');
  expect(config.pipelines.rows).toMatchObject({
    form: { kind: 'module', module: './serializers/rows.js', options: { n: 1 } },
  });
  expect(serializers).toEqual({ 'serializers/rows': join(folder, 'my.mjs') });
});

test('the module of a scan that is not there is refused by its path', async () => {
  await expect(carried('./absent.mjs')).rejects.toThrow(
    'pipelines.rows.form.module: must be a module that exists, relative to the configuration\'s directory, got "./absent.mjs"',
  );
});
