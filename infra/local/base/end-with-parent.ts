/**
 * Loaded into a child before its program: ends it, as Cloud Run would with SIGTERM, when the process that started it
 * is gone, however that happened. SIGKILL of a test runner or of a demo leaves no server behind.
 */
process.once('disconnect', () => {
  process.kill(process.pid, 'SIGTERM');
});
// Waiting for that must not be what keeps the child alive.
process.channel?.unref();
