import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { delimiter, dirname, join } from 'node:path';

export interface Emulator {
  /** `127.0.0.1:port`. */
  readonly address: string;
  close(): Promise<void>;
}

/** The emulator's jar in the Cloud SDK of this machine, or why it cannot be run. */
export function findGooglePubSubEmulator(): { readonly jar: string } | { readonly missing: string } {
  const jar = sdkRoots().flatMap(jarsIn)[0];
  if (jar === undefined) return { missing: 'no Cloud SDK with a Pub/Sub emulator' };
  if (spawnSync('java', ['-version']).status !== 0) return { missing: 'no java that runs' };
  return { jar };
}

function sdkRoots(): string[] {
  const commands = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'gcloud'));
  const installed = commands
    .filter((command) => existsSync(command))
    .map((command) => dirname(dirname(realpathSync(command))));
  const named = process.env.CLOUDSDK_ROOT_DIR;
  return [...(named ? [named] : []), ...installed, '/usr/lib/google-cloud-sdk', '/usr/share/google-cloud-sdk'];
}

function jarsIn(root: string): string[] {
  const folder = join(root, 'platform/pubsub-emulator/lib');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /^cloud-pubsub-emulator-.*-all\.jar$/.test(name))
    .map((name) => join(folder, name));
}

/** Runs the jar itself: the `gcloud` wrapper leaves the emulator behind when it is stopped. */
export async function startGooglePubSubEmulator(jar: string): Promise<Emulator> {
  const port = await freePort();
  const flags = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xmx1g'];
  const child = spawn('java', [...flags, '-jar', jar, '--host=127.0.0.1', `--port=${port}`], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  const close = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    await exited;
  };
  const deadline = Date.now() + 20_000;
  while (!(await isHealthy(port))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await close();
      throw new Error(`the Pub/Sub emulator ${jar} did not become healthy on port ${port}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { address: `127.0.0.1:${port}`, close };
}

async function isHealthy(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
