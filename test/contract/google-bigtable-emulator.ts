import { startChild, untilChildAnswers } from '../../infra/local/base/child-process.ts';
import { freePort, LOOPBACK } from '../../infra/local/base/tcp.ts';
import { findEmulator } from '../../infra/local/cloud/cloud-sdk.ts';

const emulator = await findEmulator('bigtable');

/** Whether the Cloud SDK of this machine has no Bigtable emulator, and the words for a suite that is skipped then. */
export const isMissing = 'missing' in emulator;
export const whyMissing = 'missing' in emulator ? ` (skipped: ${emulator.missing})` : '';

/** Google's emulator in a process of its own. Change-stream and backup RPCs end it. */
export async function startGoogleEmulator(): Promise<{ readonly address: string; close(): Promise<unknown> }> {
  if (!('found' in emulator)) throw new Error(emulator.missing);
  const port = await freePort();
  const child = await startChild({
    name: 'cbtemulator',
    command: emulator.found.command,
    args: emulator.found.args(port),
  });
  const address = `${LOOPBACK}:${port}`;
  await untilChildAnswers(child, 'cbtemulator', address, 15_000);
  return { address, close: () => child.stop() };
}
