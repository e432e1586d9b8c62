import { once, type EventEmitter } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Bigtable } from '@google-cloud/bigtable';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startBigtableServer } from '../../infra/local/servers/bigtable/server.ts';
import { ensureTables } from '../../infra/local/cloud/table-resources.ts';
import { tableName } from '../../shared/model/table-name.ts';
import { pushBody } from '../support/push-body.ts';
import { goodEntry } from '../support/test-entry.ts';

const CONFIG = `
pipelines:
  sink: { kind: bulk-sink, topic: records, project: p, instance: i, table: t, serializer: entry }
`;

test('the function that the framework knows as bulkSink writes what the official client reads', async () => {
  const bigtable = await startBigtableServer();
  onTestFinished(() => bigtable.close());
  await ensureTables(bigtable.address, [{ name: tableName('p', 'i', 't'), families: { f: {} } }]);
  vi.stubEnv('CONNECTOR_CONFIG', CONFIG);
  vi.stubEnv('BIGTABLE_EMULATOR_HOST', bigtable.address);
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });
  // The instance is this process here: what it registers for a SIGTERM must not outlive the test.
  const signals: Pick<EventEmitter, 'rawListeners' | 'removeListener'> = process;
  for (const event of ['SIGTERM', 'newListener']) {
    const before = signals.rawListeners(event);
    onTestFinished(() => {
      const added = signals.rawListeners(event).filter((listener) => !before.includes(listener));
      for (const listener of added) signals.removeListener(event, listener as () => void);
    });
  }

  await import('../../functions/index.ts');
  const server = getTestServer('bulkSink').listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const body = JSON.stringify(pushBody({ data: goodEntry('row', 'read back') }));
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, headers });
  expect([response.status, await response.text()]).toEqual([204, '']);

  const client = new Bigtable({ projectId: 'p', metricsEnabled: false });
  onTestFinished(async () => {
    await client.close();
  });
  const [rows] = await client.instance('i').table('t').getRows({ decode: false });
  expect(rows.map(({ id, data }) => [id as unknown, data as unknown])).toEqual([
    [Buffer.from('row'), { f: { q: [{ value: Buffer.from('read back'), timestamp: '1000', labels: [] }] } }],
  ]);
});
