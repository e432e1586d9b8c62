import { startChild, untilChildAnswers } from '../../infra/local/base/child-process.ts';
import { freePort, LOOPBACK } from '../../infra/local/base/tcp.ts';
import { findEmulator } from '../../infra/local/cloud/cloud-sdk.ts';

const emulator = await findEmulator('firestore');

/** Whether the Cloud SDK of this machine has none. */
export const isFirestoreEmulatorMissing = 'missing' in emulator;

/** For the name of what is skipped then. */
export const skipReason = 'missing' in emulator ? ` (skipped: ${emulator.missing})` : '';

export interface FirestoreEmulator {
  /** `127.0.0.1:port`. */
  readonly address: string;
  readonly close: () => Promise<unknown>;
}

export async function startFirestoreEmulator(): Promise<FirestoreEmulator> {
  if (!('found' in emulator)) throw new Error(emulator.missing);
  const port = await freePort();
  const name = "Google's Firestore emulator";
  const child = await startChild({ name, command: emulator.found.command, args: emulator.found.args(port) });
  const address = `${LOOPBACK}:${port}`;
  await untilChildAnswers(child, name, address, 25_000);
  return { address, close: () => child.stop() };
}
