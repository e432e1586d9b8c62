import { execFile, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { findEmulator } from '../../infra/local/cloud/cloud-sdk.ts';
import { startChild, type Child } from '../../infra/local/base/child-process.ts';
import { REPOSITORY } from '../../infra/local/run/start-functions.ts';

const hasCurl = spawnSync('curl', ['--version']).status === 0;
const without = hasCurl ? '' : ' (all but that of curl, which is not on this machine)';
const LAST_LINE = 'Ctrl-C drains';

let local: Child | undefined;
afterEach(async () => {
  await local?.kill();
  local = undefined;
});

/** Runs the program until it says that it is ready; its lines so far. */
async function startLocal(...args: readonly string[]): Promise<string[]> {
  const lines: string[] = [];
  const ready = Promise.withResolvers<undefined>();
  local = await startChild({
    name: 'npm run local',
    command: process.execPath,
    args: ['infra/local/run/local.ts', ...args],
    workingDirectory: REPOSITORY,
    env: {
      BIGTABLE_EMULATOR_HOST: undefined,
      PUBSUB_EMULATOR_HOST: undefined,
      FIRESTORE_EMULATOR_HOST: undefined,
      LOCAL_CLOUD: undefined,
    },
    onLine(line) {
      lines.push(line);
      if (line.startsWith(LAST_LINE)) ready.resolve(undefined);
    },
  });
  const ended = local.exited.then(() => {
    throw new Error(['npm run local ended:', ...lines].join('\n'));
  });
  ended.catch(() => undefined);
  await Promise.race([ready.promise, ended]);
  return lines;
}

const shell = async (script: readonly string[]): Promise<string> =>
  (await promisify(execFile)('bash', ['-ec', script.join('\n')], { cwd: REPOSITORY })).stdout;

/** Starts it, runs the lines that it prints for another shell, and ends it as Ctrl-C does. */
async function expectPrintedLinesToWork(...args: readonly string[]): Promise<void> {
  const lines = await startLocal(...args);
  const printed = (word: string): string => lines.find((line) => line.startsWith('  ') && line.includes(word))!.trim();
  const exports = lines.filter((line) => line.startsWith('  export '));

  expect(await shell([...exports, printed('publish')])).toContain('published 1 records');
  const rows = [...exports, `for attempt in 1 2 3 4 5; do ${printed(' rows ')} | grep summary && break; sleep 1; done`];
  expect(await shell(rows)).toContain('flight:summary @978309000000000 500 miles, 5 minutes late');
  if (hasCurl) expect(await shell([printed('curl')])).toContain(' 204 ');

  process.kill(local!.pid, 'SIGINT');
  expect(await local!.exited).toEqual({ code: 0, signal: null });
}

test.each([
  ['a process for each pipeline', []],
  ['one process', ['--one-process']],
])(
  `with %s, the lines that npm run local prints work${without}, and SIGINT ends it well`,
  async (_case, args) => {
    await expectPrintedLinesToWork(...args);
  },
  90_000,
);

test(`row requests: what npm run local prints for them increments a counter, and each answer holds its value${without}`, async () => {
  const lines = await startLocal('--config', 'infra/local/demo/requests/connector.yaml');
  const line = lines.find((one) => one.startsWith('  curl ') && one.endsWith('/request.json'))!.trim();
  const [, url = '', file = ''] = /^curl -s (\S+) .* -d @(\S+)$/.exec(line) ?? [];
  const body = await readFile(join(REPOSITORY, file), 'utf8');
  const increment = async (): Promise<unknown> => {
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    return response.json();
  };
  const answer = (value: string): object => ({
    table: 'local.demo.visits',
    outcome: { readModifyWrite: { cells: [{ family: 'visits', qualifier: 'total', value: { int64: value } }] } },
  });
  expect(await increment()).toMatchObject(answer('1'));
  expect(await increment()).toMatchObject(answer('2'));
  if (hasCurl) expect(JSON.parse(await shell([line]))).toMatchObject(answer('3'));

  process.kill(local!.pid, 'SIGINT');
  expect(await local!.exited).toEqual({ code: 0, signal: null });
}, 90_000);

const searches = await Promise.all([findEmulator('bigtable'), findEmulator('pubsub'), findEmulator('firestore')]);
const missing = searches.flatMap((search) => ('missing' in search ? search.missing : []));
const reason = missing.length > 0 ? ` (skipped: ${missing.join('; ')})` : '';

test.skipIf(missing.length > 0)(
  `with Google's emulators, the same lines work${reason}`,
  async () => {
    await expectPrintedLinesToWork('--emulators', 'google');
  },
  120_000,
);

test.each([
  ['a configuration that is not there', 1, ['--config', 'nowhere.yaml'], /nowhere\.yaml: 1 problem/],
  ['emulators of another kind', 2, ['--emulators', 'docker'], /Allowed choices are embedded, google, auto/],
  ['a time scale of nothing', 2, ['--time-scale', '0'], /a number from 1 to 1000/],
])(
  '%s ends it with code %i and a message without a stack',
  async (_case, code, args, message) => {
    await expect(startLocal(...args)).rejects.toThrow(message);
    expect((await local!.exited).code).toBe(code);
    expect(local!.lastLines().join('\n')).not.toMatch(/^\s+at /m);
  },
  30_000,
);
