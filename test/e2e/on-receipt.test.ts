import { fileURLToPath } from 'node:url';
import type { Row } from '@google-cloud/bigtable';
import { expect, test } from 'vitest';
import { openPlatform } from '../../infra/local/demo/base/platform.ts';
import { storedCells, storedKey } from '../../infra/local/run/official-rows.ts';
import { onSubscription } from '../../infra/local/servers/pubsub/faults.ts';
import { sleep, systemClock } from '../../shared/base/clock.ts';

const file = (name: string): string => fileURLToPath(new URL(`fixtures/on-receipt/${name}`, import.meta.url));

const MESSAGES = 60;
const GROUPS = ['a', 'b', 'c'];

/** `Counted { group, micros: 1000, messages: 1 }` of the configuration, as Protobuf writes it. */
const counted = (group: string): Buffer =>
  Buffer.concat([Buffer.from(`\x0a\x01${group}`), Buffer.from('10e8071801', 'hex')]);

test('a staged sink that commits on receipt, a real process, counts every Protobuf record once although the first acknowledgements are lost', async ({
  signal,
}) => {
  await using platform = await openPlatform({
    ...{ configFile: file('connector.yaml'), tablesFile: file('tables.yaml'), timeScale: 10 },
  });
  const { connector, servers, pubsub, tableOf } = platform;
  const [pipeline] = connector.pipelines;
  const { name: subscription, topic } = pipeline!.input;
  servers.pubsub.faults.add({
    method: 'Acknowledgement',
    where: onSubscription(subscription),
    times: MESSAGES,
    effect: { kind: 'lose' },
  });

  await Promise.all(
    Array.from({ length: MESSAGES }, (_, index) =>
      pubsub
        .topic(topic)
        .publishMessage({ data: counted(GROUPS[index % GROUPS.length]!), attributes: { id: `m-${index}` } }),
    ),
  );
  while (servers.pubsub.counters(subscription).backlog > 0) await sleep(systemClock, 20, signal);
  expect((await pipeline!.function.stop()).code).toBe(0);

  const [rows] = (await tableOf(pipeline!.table!).getRows({ decode: false })) as [Row[], unknown];
  const each = MESSAGES / GROUPS.length;
  expect(rows.map((row) => [storedKey(row).toString(), sumOf(row), markersOf(row)])).toEqual(
    GROUPS.map((group) => [group, BigInt(each), each]),
  );
}, 60_000);

const sumOf = (row: Row): bigint =>
  storedCells(row)
    .filter(({ family }) => family === 'total')
    .reduce((sum, { value }) => sum + value.readBigInt64BE(), 0n);

const markersOf = (row: Row): number => storedCells(row).filter(({ family }) => family === 'applied').length;
