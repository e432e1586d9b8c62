import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type LocalFirestore, startFirestoreServer } from '../../../../infra/local/servers/firestore/server.ts';
import { expectSoon } from '../../../support/soon.ts';

/** The verbs as processes, with the runs in the embedded Firestore. */
const MAIN = resolve(import.meta.dirname, '../../../../functions/cli/main.ts');

let server: LocalFirestore;
let folder: string;

beforeAll(async () => {
  server = await startFirestoreServer();
  folder = await mkdtemp(join(tmpdir(), 'connector-scan-'));
  await writeFile(
    join(folder, 'connector.yaml'),
    `defaults: { project: p, instance: i }
pipelines:
  exports: { kind: scan-source, table: t, outputTopic: rows }
`,
  );
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

function start(args: readonly string[], address = server.address) {
  const env = { ...process.env, FIRESTORE_EMULATOR_HOST: address };
  const child = spawn(process.execPath, [MAIN, 'scan', ...args], { cwd: folder, env });
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

/** Sends Ctrl-C once `isSo`, and measures how long the process goes on. */
async function interrupted({ child, ended, said }: ReturnType<typeof start>, isSo: () => boolean) {
  await vi.waitFor(
    () => {
      if (!isSo()) throw new Error(`not yet: ${said()}`);
    },
    { timeout: 20_000, interval: 20 },
  );
  const at = performance.now();
  child.kill('SIGINT');
  const outcome = await ended;
  expectSoon(at);
  return outcome;
}

describe('the verbs of scan over Firestore', { timeout: 60_000 }, () => {
  test('start a run, show it, refuse another one, cancel it and list it', async () => {
    expect((await connector('status', 'exports')).out).toContain('exports has no run yet');
    expect(await connector('start', 'exports', '--run', '2026-01-31T03:00:00Z')).toMatchObject({
      code: 0,
      out: '2026-01-31T03:00:00Z\n',
    });
    const shown = JSON.parse((await connector('status', 'exports', '--json')).out) as unknown;
    expect(shown).toMatchObject({ run: { id: '2026-01-31T03:00:00Z', state: 'planning' }, slots: [] });
    const second = await connector('start', 'exports');
    expect(second.code).toBe(1);
    expect(second.err).toContain('run 2026-01-31T03:00:00Z of exports, started at');
    expect((await connector('cancel', 'exports')).code).toBe(0);
    const listed = JSON.parse((await connector('list', 'exports', '--json')).out) as unknown;
    expect(listed).toMatchObject([{ id: '2026-01-31T03:00:00Z', state: 'cancelled' }]);
  });

  test.each([
    ['start --wait', ['start', 'exports', '--run', 'waited', '--wait'], 'run waited of exports is started', 'goes on'],
    ['status --watch', ['status', 'exports', '--run', 'waited', '--watch', '60'], 'run waited is being planned', ''],
  ])('%s ends within a second of Ctrl-C, with the exit code 130', async (_verb, args, said, last) => {
    const running = start(args);
    const { code, err } = await interrupted(running, () => running.said().includes(said));
    expect({ code, err }).toEqual({ code: 130, err: expect.stringContaining(last) as string });
  });

  test.each([[['start', 'exports']], [['status', 'exports']]])(
    '%j ends within a second of Ctrl-C while Firestore does not answer',
    async (args) => {
      const sockets: Socket[] = [];
      const silent = createServer((socket) => sockets.push(socket));
      const address = await listening(silent);
      const { code, out } = await interrupted(start(args, address), () => sockets.length > 0);
      for (const socket of sockets) socket.destroy();
      silent.close();
      expect([code, out]).toEqual([130, '']);
    },
  );
});

const listening = (silent: Server): Promise<string> =>
  new Promise((done) => {
    silent.listen(0, '127.0.0.1', () => {
      done(`127.0.0.1:${(silent.address() as { readonly port: number }).port}`);
    });
  });
