import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Row } from '@google-cloud/bigtable';
import { expect, test } from 'vitest';
import { ensureTables } from '../../infra/local/cloud/table-resources.ts';
import { openPlatform } from '../../infra/local/demo/base/platform.ts';
import { storedCells, storedKey } from '../../infra/local/run/official-rows.ts';
import { sleep, systemClock } from '../../shared/base/clock.ts';

const file = (name: string): string => fileURLToPath(new URL(`fixtures/letters/${name}`, import.meta.url));
const MAIN = fileURLToPath(new URL('../../functions/cli/main.ts', import.meta.url));

/** `connector` as people run it. */
const connector = (args: readonly string[], env: Readonly<Record<string, string | undefined>>): Promise<string> =>
  new Promise((done) => {
    execFile(process.execPath, [MAIN, ...args], { env: { ...process.env, ...env } }, (_error, out, err) => {
      done(out + err);
    });
  });

test('letters of two pipelines that share a dead-letter topic come back, each to its own, once the cause is fixed', async ({
  signal,
}) => {
  await using platform = await openPlatform({
    ...{ configFile: file('connector.yaml'), tablesFile: file('tables.yaml'), timeScale: 10 },
  });
  const { cloud, pubsub, servers, tableOf } = platform;
  const { pipelines } = platform.connector;
  const isQuiet = (): boolean => pipelines.every(({ input }) => servers.pubsub.counters(input.name).backlog === 0);
  const idle = async (isDone: () => boolean): Promise<void> => {
    while (!isDone()) await sleep(systemClock, 20, signal);
  };
  const records = [1, 2, 3].map((cents) => JSON.stringify({ id: `sale-${cents}`, cents }));
  await Promise.all(records.map((text) => pubsub.topic('sales').publishMessage({ data: Buffer.from(text) })));
  await idle(isQuiet);

  // The cause: both tables keep sums where cells are written.
  for (const { table } of pipelines) {
    await tableOf(table!).delete();
    await ensureTables(servers.bigtable.address, [{ name: table!, families: { cells: {} } }]);
  }

  const keysOf = async (index: number): Promise<string[]> => {
    const [rows] = (await tableOf(pipelines[index]!.table!).getRows({ decode: false })) as [Row[], unknown];
    return rows.map((row) => `${storedKey(row).toString()}=${storedCells(row)[0]!.value.readBigInt64BE()}`);
  };
  const written = ['sale-1=1', 'sale-2=2', 'sale-3=3'];
  const env = { ...cloud.env, CONNECTOR_CONFIG_FILE: file('connector.yaml'), CONNECTOR_CONFIG: undefined };

  const replay = (name: string): Promise<string> => connector(['replay-dlq', name, '--apply', '--idle', '1'], env);
  const isBack = (name: string) => () =>
    servers.pubsub.counters(`projects/local/subscriptions/dead-${name}-replay`).backlog === 0;
  expect(await replay('orders')).toContain(
    '3 letters published to projects/local/topics/dead-orders-replay and acknowledged; 0 given back; 3 left out',
  );
  await idle(isBack('orders'));
  expect([await keysOf(0), await keysOf(1)]).toEqual([written, []]);
  expect(await replay('copies')).toContain('3 letters published to projects/local/topics/dead-copies-replay');
  await idle(isBack('copies'));
  expect([await keysOf(0), await keysOf(1)]).toEqual([written, written]);
  expect(servers.pubsub.counters('projects/local/subscriptions/dead-reader').backlog).toBe(0);
}, 90_000);
