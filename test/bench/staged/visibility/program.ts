import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PubSub, type Topic } from '@google-cloud/pubsub';
import { startLocalCloud } from '../../../../infra/local/cloud/cloud.ts';
import { startLocalConnector } from '../../../../infra/local/run/connector.ts';
import { sleep, systemClock } from '../../../../shared/base/clock.ts';
import { tablePath } from '../../../../shared/model/table-name.ts';
import { connect, type RawClient, readRows } from '../../../support/bigtable-raw-client.ts';
import { endWith, programArgument } from '../../support/program.ts';
import { FAMILY, keyOf, QUALIFIER, TABLE } from '../envelopes.ts';
import { configOf, TABLES, TOPIC, type VisibilityArgument, type VisibilityResult } from './sinks.ts';
import { quantileOf, sortedNumbers } from '../../../../shared/base/quantile.ts';

/**
 * Publishes records at a steady pace to a sink that runs as deployed, over the embedded cloud. A record's cell has the
 * server's time, so that the table itself tells when it became readable, and nothing has to poll for it meanwhile.
 */
const { sink, warmUpMessages, messages, messagesPerSecond } = programArgument() as VisibilityArgument;
const POLL_MILLIS = 200;
const LIMIT_MILLIS = 60_000;

const latencies = await measure();
const sorted = sortedNumbers(latencies);
endWith({
  p50Millis: quantileOf(sorted, 0.5) ?? Number.NaN,
  p95Millis: quantileOf(sorted, 0.95) ?? Number.NaN,
} satisfies VisibilityResult);

async function measure(): Promise<number[]> {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'bigtable-connector-bench-'));
  opened.defer(() => rm(folder, { recursive: true }));
  // JSON is YAML.
  const [configFile, tablesFile] = [join(folder, 'connector.yaml'), join(folder, 'tables.yaml')];
  await writeFile(configFile, JSON.stringify(configOf(sink)));
  await writeFile(tablesFile, JSON.stringify(TABLES));
  const cloud = await startLocalCloud({ mode: 'embedded', placement: 'child', env: {}, project: TABLE.project });
  opened.defer(() => cloud.close());
  const connector = await startLocalConnector({ cloud, configFile, tablesFile });
  opened.defer(() => connector.stop());
  const pubsub = new PubSub({ projectId: TABLE.project, apiEndpoint: cloud.pubsubHost, emulatorMode: true });
  opened.defer(() => pubsub.close());
  const bigtable = connect(cloud.bigtableHost);
  opened.defer(() => {
    bigtable.close();
  });
  const topic = pubsub.topic(TOPIC, { batching: { maxMessages: 1 } });
  await publish(topic, 0, warmUpMessages);
  await allWritten(bigtable, warmUpMessages);
  const publishedAt = await publish(topic, warmUpMessages, messages);
  const writtenAt = await allWritten(bigtable, warmUpMessages + messages);
  return [...publishedAt].map(([key, millis]) => (writtenAt.get(key) ?? Number.NaN) - millis);
}

/** Publishes messages `first` and the `count - 1` after it; when each row's record was handed to the publisher. */
async function publish(topic: Topic, first: number, count: number): Promise<ReadonlyMap<string, number>> {
  const publishedAt = new Map<string, number>();
  const confirmed: Promise<string>[] = [];
  const startedAt = Date.now();
  for (let index = 0; index < count; index += 1) {
    await sleep(systemClock, startedAt + (index * 1000) / messagesPerSecond - Date.now());
    const key = keyOf(first + index);
    publishedAt.set(key, Date.now());
    confirmed.push(topic.publishMessage({ data: recordOf(key) }));
  }
  await Promise.all(confirmed);
  return publishedAt;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function recordOf(key: string): Buffer {
  const [columnQualifier, value] = [base64(QUALIFIER), base64('v'.repeat(100))];
  const setCell = { familyName: FAMILY, columnQualifier, timestampMicros: '-1', value };
  return Buffer.from(JSON.stringify({ rowKey: base64(key), mutations: [{ setCell }] }));
}

/** Waits until there are this many rows; the milliseconds at which the server wrote each. */
async function allWritten(bigtable: RawClient, rows: number): Promise<ReadonlyMap<string, number>> {
  const deadline = Date.now() + LIMIT_MILLIS;
  for (;;) {
    const found = await readRows(bigtable, tablePath(TABLE));
    if (found.length === rows) return new Map(found.map(({ key, cells }) => [key, writtenMillis(cells)]));
    if (Date.now() > deadline) throw new Error(`${found.length} of ${rows} rows were written`);
    await sleep(systemClock, POLL_MILLIS);
  }
}

/** The first time at which the row had its cell: a redelivery by the bulk sink adds another. */
function writtenMillis(cells: readonly string[]): number {
  const millis = cells.flatMap((cell) => {
    const micros = new RegExp(`^${FAMILY}:${QUALIFIER}@(\\d+)=`).exec(cell)?.[1];
    return micros === undefined ? [] : [Number(micros) / 1000];
  });
  return Math.min(...millis);
}
