import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findEmulator } from '../../../../infra/local/cloud/cloud-sdk.ts';

/** A Cloud SDK of empty files, its gcloud linked from a folder on the PATH, and a java that is a shell script. */
let machine: string;
beforeEach(() => {
  machine = mkdtempSync(join(tmpdir(), 'cloud-sdk-'));
  mkdirSync(join(machine, 'sdk/bin'), { recursive: true });
  mkdirSync(join(machine, 'path'));
  writeFileSync(join(machine, 'sdk/bin/gcloud'), '');
  symlinkSync(join(machine, 'sdk/bin/gcloud'), join(machine, 'path/gcloud'));
});
afterEach(() => {
  rmSync(machine, { recursive: true });
});

const addFile = (path: string): void => {
  mkdirSync(join(machine, path, '..'), { recursive: true });
  writeFileSync(join(machine, path), '');
};
const addJava = (exitCode: number): void => {
  writeFileSync(join(machine, 'path/java'), `#!/bin/sh\nexit ${exitCode}\n`);
  chmodSync(join(machine, 'path/java'), 0o755);
};
const env = (): Record<string, string> => ({ PATH: join(machine, 'path') });

test('the Bigtable emulator is the program itself, never the gcloud wrapper', async () => {
  addFile('sdk/platform/bigtable-emulator/cbtemulator');
  const search = await findEmulator('bigtable', env());
  if (!('found' in search)) throw new Error(search.missing);
  expect(search.found.command).toBe(join(machine, 'sdk/platform/bigtable-emulator/cbtemulator'));
  expect(search.found.args(8086)).toEqual(['-host', '127.0.0.1', '-port', '8086']);
});

test('the Pub/Sub emulator is the newest jar, run by java', async () => {
  addFile('sdk/platform/pubsub-emulator/lib/cloud-pubsub-emulator-0.8.9-all.jar');
  addFile('sdk/platform/pubsub-emulator/lib/cloud-pubsub-emulator-0.8.20-all.jar');
  addJava(0);
  const search = await findEmulator('pubsub', env());
  if (!('found' in search)) throw new Error(search.missing);
  expect(search.found.command).toBe('java');
  expect(search.found.args(8085).slice(-4)).toEqual([
    '-jar',
    join(machine, 'sdk/platform/pubsub-emulator/lib/cloud-pubsub-emulator-0.8.20-all.jar'),
    '--host=127.0.0.1',
    '--port=8085',
  ]);
});

test('the Firestore emulator is a class of its jar, run by java', async () => {
  addFile('sdk/platform/cloud-firestore-emulator/cloud-firestore-emulator.jar');
  addJava(0);
  const search = await findEmulator('firestore', env());
  if (!('found' in search)) throw new Error(search.missing);
  expect(search.found.command).toBe('java');
  expect(search.found.args(8080).slice(-5)).toEqual([
    '-cp',
    join(machine, 'sdk/platform/cloud-firestore-emulator/cloud-firestore-emulator.jar'),
    'com.google.cloud.datastore.emulator.firestore.CloudFirestore',
    '--host=127.0.0.1',
    '--port=8080',
  ]);
});

test('a jar without a java that runs is missing, and the reason says so', async () => {
  addFile('sdk/platform/pubsub-emulator/lib/cloud-pubsub-emulator-0.8.20-all.jar');
  expect(await findEmulator('pubsub', env())).toEqual({ missing: 'its jar is there, but java does not run' });
  addJava(1);
  expect(await findEmulator('pubsub', env())).toEqual({ missing: 'its jar is there, but java does not run' });
});
