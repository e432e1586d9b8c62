import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('../../', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    // Real processes and sockets in some suites: files run beside each other, but never more than the machine has cores.
    pool: 'forks',
    maxWorkers: Math.max(1, Math.min(4, availableParallelism())),
    testTimeout: 20_000,
    hookTimeout: 30_000,
    // A busy machine is slow, not wrong: a poll goes on for nearly as long as its test may.
    expect: { poll: { timeout: 15_000, interval: 10 } },
    setupFiles: ['test/support/leak-check.ts'],
    reporters: ['default', './infra/tooling/closing-line-reporter.ts'],
    env: { METADATA_SERVER_DETECTION: 'none' },
  },
});
