/**
 * The milliseconds of CPU that this process spends on something that does not wait. Unlike a clock's they stay the same
 * where other processes take the machine.
 */
export function cpuMillis(run: () => void): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
