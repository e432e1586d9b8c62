import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startLocalCloud } from '../../infra/local/cloud/cloud.ts';
import { startLocalConnector } from '../../infra/local/run/connector.ts';
import { REPOSITORY } from '../../infra/local/run/start-functions.ts';
import { connect, readRows } from '../support/bigtable-raw-client.ts';
import { fencedBlocks } from './fenced-blocks.ts';
import { pageText } from './pages.ts';

/** A folder of one's own, as the README says it: its files are those of the page, and its commands run as processes. */

const readme = pageText('README.md');
const [configuration = ''] = fencedBlocks(readme, 'yaml');
const tables = fencedBlocks(readme, 'yaml').find((block) => block.startsWith('tables:')) ?? '';
const [session = ''] = fencedBlocks(readme, 'console');
const [, record = ''] = /^\$ echo '(.*)' \|$/m.exec(session) ?? [];
const commands = fencedBlocks(readme, 'sh')
  .flatMap((block) => block.split('\n'))
  .filter((line) => line.includes('../orders/'));

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orders-'));
  await writeFile(join(folder, 'connector.yaml'), configuration);
  await writeFile(join(folder, 'tables.yaml'), tables);
  await writeFile(join(folder, 'record.json'), record);
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs the commands of one kind on the folder; their output. */
async function runCommands(of: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const outputs = commands
    .filter((line) => line.startsWith(`npm run ${of} `))
    .map(async (line) => {
      const words = line.replace(/ +#.*/, '').replaceAll('../orders', folder).replace('-- ', '').split(' ');
      const [script = '', ...args] = words.slice(2);
      const file = SCRIPTS[script] ?? 'no such script';
      const options = { cwd: REPOSITORY, env: { ...process.env, ...env } };
      const ran = await promisify(execFile)(process.execPath, [file, ...args, ...(EXTRA[script]?.() ?? [])], options);
      return `${ran.stdout}${ran.stderr}`;
    });
  expect(outputs.length).toBeGreaterThan(0);
  return (await Promise.all(outputs)).join('\n');
}

const SCRIPTS: Readonly<Record<string, string>> = {
  connector: 'functions/cli/main.ts',
  build: 'infra/tooling/build.ts',
};
/** The folder of the bundle that a developer may have stays as it is. */
const EXTRA: Readonly<Record<string, () => string[]>> = { build: () => ['--out', join(folder, 'dist')] };

test('every command names the configuration of the folder, and is a script of package.json', () => {
  const { scripts } = JSON.parse(pageText('package.json')) as { scripts: Record<string, string> };
  const verbs = commands.map((line) => /^npm run (\w+) /.exec(line)?.[1] ?? line);
  expect(new Set(verbs)).toEqual(new Set(['connector', 'local', 'build']));
  expect(verbs.filter((verb) => !(verb in scripts))).toEqual([]);
  expect(commands.filter((line) => !line.includes('../orders/connector.yaml'))).toEqual([]);
  for (const [script, file] of Object.entries(SCRIPTS)) expect(scripts[script]).toContain(file);
});

test('validate, map and build take it without a network', async () => {
  expect(await runCommands('connector -- validate')).toContain('orders');
  expect(await runCommands('connector -- map')).toContain('row key  "acme#00000042"');
  expect(await runCommands('build')).toContain('connector.json');
}, 60_000);

test('a serializer of the folder imports its types from the repository, and map runs it as it is', async () => {
  const [module = ''] = fencedBlocks(readme, 'ts');
  const [, coded = ''] = fencedBlocks(readme, 'yaml');
  await writeFile(join(folder, 'order-serializer.mts'), module.replace('./shared/', '../connector/shared/'));
  await writeFile(join(folder, 'coded.yaml'), coded.replace('order-serializer.ts', 'order-serializer.mts'));
  const args = [
    'functions/cli/main.ts',
    'map',
    'orders',
    join(folder, 'record.json'),
    '--config',
    join(folder, 'coded.yaml'),
  ];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: REPOSITORY });
  expect(stdout).toContain('row key  "acme#42"');
  expect(stderr).toBe('written 1, skipped 0, refused 0\n');
});

test('the local cloud runs it: a record that is published is a row, and there is no dead letter', async () => {
  const cloud = await startLocalCloud({ env: {}, project: 'my-project' });
  const client = connect(cloud.bigtableHost);
  try {
    const files = { configFile: join(folder, 'connector.yaml'), tablesFile: join(folder, 'tables.yaml') };
    const connector = await startLocalConnector({ cloud, ...files });
    try {
      const { env } = cloud;
      expect(await runCommands('connector -- publish', env)).toContain('published 1 records');
      const rows = () => readRows(client, 'projects/my-project/instances/my-instance/tables/orders');
      await expect
        .poll(async () => (await rows()).map(({ key }) => key), { timeout: 20_000 })
        .toEqual(['acme#00000042']);
      expect(await runCommands('connector -- replay-dlq', env)).toMatch(/\b0 letters|no (dead )?letters?/i);
    } finally {
      await connector.stop();
    }
  } finally {
    client.close();
    await cloud.close();
  }
}, 90_000);
