import { vi } from 'vitest';

/** How long a busy machine may take over what an idle one does in milliseconds; a test itself has 20 s. */
const PATIENCE_MILLIS = 15_000;

/** Looks again until nothing is thrown, and returns what it saw. A test that waits so sleeps for no fixed time. */
export const eventually = <T>(look: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(look, { timeout: PATIENCE_MILLIS, interval: 10 });
