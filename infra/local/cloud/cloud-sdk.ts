import { execFile } from 'node:child_process';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { LOOPBACK } from '../base/tcp.ts';

export type ServiceName = 'bigtable' | 'pubsub' | 'firestore';

/** How to start one of Google's emulators: the program itself, because killing the gcloud wrapper leaves it running. */
export interface EmulatorCommand {
  readonly command: string;
  /** Arguments that make it listen on 127.0.0.1 at that port. */
  args(port: number): readonly string[];
}

export type EmulatorSearch = { readonly found: EmulatorCommand } | { readonly missing: string };

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Looks for Google's emulator of a service in the Cloud SDK: the installation of the `gcloud` on the PATH, then
 * `CLOUDSDK_ROOT_DIR`, then the usual folders. Never rejects: an emulator that cannot run is `missing`, with the reason.
 */
export async function findEmulator(service: ServiceName, env: Environment = process.env): Promise<EmulatorSearch> {
  const roots = cloudSdkRoots(env);
  if (roots.length === 0) return { missing: 'no Cloud SDK on this machine' };
  switch (service) {
    case 'bigtable':
      return findBigtableEmulator(roots);
    case 'pubsub':
      return findPubSubEmulator(roots, env);
    case 'firestore':
      return findFirestoreEmulator(roots, env);
  }
}

function findBigtableEmulator(roots: readonly string[]): EmulatorSearch {
  const program = roots.map((root) => join(root, 'platform/bigtable-emulator/cbtemulator')).find(existsSync);
  if (program === undefined) return { missing: 'the Cloud SDK has no component bigtable' };
  return { found: { command: program, args: (port) => ['-host', LOOPBACK, '-port', String(port)] } };
}

async function findPubSubEmulator(roots: readonly string[], env: Environment): Promise<EmulatorSearch> {
  const jar = roots
    .map((root) => newestJar(join(root, 'platform/pubsub-emulator/lib')))
    .find((path) => path !== undefined);
  if (jar === undefined) return { missing: 'the Cloud SDK has no component pubsub-emulator' };
  return javaProgram(['-jar', jar], env);
}

async function findFirestoreEmulator(roots: readonly string[], env: Environment): Promise<EmulatorSearch> {
  const jar = roots
    .map((root) => join(root, 'platform/cloud-firestore-emulator/cloud-firestore-emulator.jar'))
    .find(existsSync);
  if (jar === undefined) return { missing: 'the Cloud SDK has no component cloud-firestore-emulator' };
  const main = 'com.google.cloud.datastore.emulator.firestore.CloudFirestore';
  return javaProgram(['-Duser.language=en', '-cp', jar, main], env);
}

/** An emulator of which there is a jar: to be found where there is a java that runs, too. */
async function javaProgram(program: readonly string[], env: Environment): Promise<EmulatorSearch> {
  const java = env.JAVA_HOME === undefined ? 'java' : join(env.JAVA_HOME, 'bin/java');
  if (!(await runs(java, ['-version'], env))) return { missing: 'its jar is there, but java does not run' };
  return {
    found: {
      command: java,
      // A serial collector and the first compiler tier halve the start; without a limit the heap grows past 1 GiB.
      args: (port) => [
        ...['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xmx1g'],
        ...program,
        ...[`--host=${LOOPBACK}`, `--port=${port}`],
      ],
    },
  };
}

function cloudSdkRoots(env: Environment): string[] {
  const gcloud = (env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'gcloud'))
    .find(existsSync);
  return [
    ...(gcloud === undefined ? [] : [dirname(dirname(realpathSync(gcloud)))]),
    ...(env.CLOUDSDK_ROOT_DIR === undefined ? [] : [env.CLOUDSDK_ROOT_DIR]),
    '/usr/lib/google-cloud-sdk',
    '/usr/share/google-cloud-sdk',
    join(homedir(), 'google-cloud-sdk'),
  ].filter((root) => existsSync(join(root, 'platform')));
}

function newestJar(folder: string): string | undefined {
  if (!existsSync(folder)) return undefined;
  const jar = readdirSync(folder)
    .filter((name) => /^cloud-pubsub-emulator-.*-all\.jar$/.test(name))
    .toSorted((left, right) => left.localeCompare(right, 'en', { numeric: true }))
    .at(-1);
  return jar && join(folder, jar);
}

const JAVA_TIMEOUT_MILLIS = 10_000;

function runs(command: string, args: readonly string[], env: Environment): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(command, args, { env: { ...env }, timeout: JAVA_TIMEOUT_MILLIS }, (error) => {
      resolve(error === null);
    });
  });
}
