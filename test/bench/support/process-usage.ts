import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** What another process uses, as Linux tells it. */

/** Why these figures cannot be had here; undefined where they can. */
export const usageProblem = (): string | undefined =>
  existsSync('/proc/self/stat') ? undefined : 'the figures of another process are read from /proc, which is not here';

/** Linux reports CPU time in these, whatever the kernel's own tick. */
const TICKS_PER_SECOND = 100;

/** User and system time of all threads so far. Steps of 10 ms. */
export async function cpuMillisOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may hold anything; fields are counted from behind it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [user, system] = [Number(fields[11]), Number(fields[12])];
  return ((user + system) * 1000) / TICKS_PER_SECOND;
}

export async function rssMiBOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1]) / 1024;
}
