import { setTimeout as wait } from 'node:timers/promises';
import { afterAll } from 'vitest';

/** What a test file may not leave behind: sockets, servers, timers that hold the process, child processes. */
const LEAKS = new Set(['TCPSocketWrap', 'TCPServerWrap', 'ProcessWrap', 'Timeout']);

/** The runner holds one timer of its own while a hook runs: that of the hook's time limit. */
const RUNNERS_TIMERS = 1;

const held = (): string[] => process.getActiveResourcesInfo().filter((kind) => LEAKS.has(kind));
const before = held();
const isClean = (): boolean => held().length <= before.length + RUNNERS_TIMERS;

// Registered before the file's own hooks, so it runs after them.
afterAll(async () => {
  // Closing is asynchronous in the kernel: give what is on its way a moment, then insist.
  for (let round = 0; round < 200 && !isClean(); round += 1) await wait(25);
  if (isClean()) return;
  throw new Error(
    `the test file left handles behind: ${held().join(', ')} (before it: ${before.join(', ') || 'none'})`,
  );
});
