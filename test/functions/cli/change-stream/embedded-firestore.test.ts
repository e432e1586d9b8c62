import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type LocalFirestore, startFirestoreServer } from '../../../../infra/local/servers/firestore/server.ts';
import { createDatabase, type Database } from '../../../../shared/google/firestore/database.ts';
import { nanosOf } from '../../../../shared/change-stream/ledger/position-of.ts';
import { withEnvironment } from '../../../support/environment.ts';
import { held, partition } from '../../../support/partitions.ts';
import { expectSoon } from '../../../support/soon.ts';

/** The verbs as processes, with the source in the embedded Firestore. */
const MAIN = resolve(import.meta.dirname, '../../../../functions/cli/main.ts');

const { signal } = new AbortController();

let server: LocalFirestore;
let database: Database;
let folder: string;

beforeAll(async () => {
  server = await startFirestoreServer();
  database = createDatabase({ databaseId: 'connector', projectId: 'p' });
  await withEnvironment({ FIRESTORE_EMULATOR_HOST: server.address }, () => startSource());
  folder = await mkdtemp(join(tmpdir(), 'connector-change-stream-'));
  await writeFile(
    join(folder, 'connector.yaml'),
    `defaults: { project: p, instance: i, firestoreDatabase: connector }
pipelines:
  changes: { kind: change-stream-source, table: t, outputTopic: changes, appProfileId: one }
`,
  );
});
afterAll(async () => {
  await database.close();
  await server.close();
  await rm(folder, { recursive: true });
});

/** As a coordinator leaves it: two partitions, of which a slot has one. */
async function startSource(): Promise<void> {
  const { coordinator, slots } = database.changeStream('changes');
  const startTime = nanosOf(Date.now() - 60_000);
  const source = { ...({ commits: 1, status: 'reading', generation: 1, options: '{}', startTime, dead: [] } as const) };
  const lease = { owner: '', epoch: 1, expiresAt: 0 };
  const of = (start: string, end: string) => held(start, end, [], startTime);
  const changes = [
    partition('first', of('', 'm'), { kind: 'held', slot: 0, epoch: 1 }),
    partition('second', of('m', '')),
  ].map((each) => ({ kind: 'new-partition', partition: each }) as const);
  await coordinator.commit({ pipeline: { version: undefined, value: { ...source, lease } }, changes }, signal);
  const value = { owner: 'reader', epoch: 1, attempt: 1, units: { first: of('', 'm') } };
  await slots.commit({ slot: 0, version: undefined, value, changes: [] }, signal);
}

function start(args: readonly string[]) {
  const env = { ...process.env, FIRESTORE_EMULATOR_HOST: server.address };
  const child = spawn(process.execPath, [MAIN, 'change-stream', ...args], { cwd: folder, env });
  const [out, err]: [string[], string[]] = [[], []];
  child.stdout.on('data', (text: Buffer) => out.push(text.toString()));
  child.stderr.on('data', (text: Buffer) => err.push(text.toString()));
  const ended = new Promise<{ code: number | null; out: string; err: string }>((done) => {
    child.once('close', (code) => {
      done({ code, out: out.join(''), err: err.join('') });
    });
  });
  return { child, ended, said: () => [...out, ...err].join('') };
}

const connector = (...args: readonly string[]) => start(args).ended;

const statusNow = async (): Promise<string | undefined> =>
  (await database.changeStream('changes').status.readPipeline(signal))?.value.status;

describe('the verbs of change-stream over Firestore', { timeout: 60_000 }, () => {
  test('show a source, pause it and let it go on', async () => {
    const shown = JSON.parse((await connector('status', 'changes', '--json')).out) as unknown;
    expect(shown).toMatchObject({
      source: { status: 'reading', generation: 1 },
      partitions: expect.arrayContaining([
        expect.objectContaining({ id: 'first', range: '(*, m)', state: 'held', slot: 0 }),
        expect.objectContaining({ id: 'second', range: '[m, *)', state: 'waiting' }),
      ]) as unknown,
      slots: [{ slot: 0, owner: 'reader', partitions: 1 }],
    });
    expect((await connector('pause', 'changes')).code).toBe(0);
    expect(await statusNow()).toBe('paused');
    expect((await connector('status', 'changes')).out).toContain('changes: is paused');
    expect((await connector('resume', 'changes')).code).toBe(0);
    expect(await statusNow()).toBe('reading');
  });

  test('status --watch ends within a second of Ctrl-C, with the exit code 130', async () => {
    const running = start(['status', 'changes', '--watch', '60']);
    await vi.waitFor(
      () => {
        if (!running.said().includes('changes: is reading')) throw new Error(`not yet: ${running.said()}`);
      },
      { timeout: 20_000, interval: 20 },
    );
    const at = performance.now();
    running.child.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
    expectSoon(at);
  });
});
