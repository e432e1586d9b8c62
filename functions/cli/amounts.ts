/** Times and amounts in words, for reports. Pure. */

/** To the second, in UTC. */
export const formatTime = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');

export const ago = (at: number, now: number): string => `${duration(now - at)} ago`;

/** Clocks differ a little: what seems to lie ahead is now. */
export function duration(millis: number): string {
  const seconds = Math.max(0, millis) / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function size(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${power === 0 ? bytes : (bytes / 1024 ** power).toFixed(1)} ${String(UNITS[power])}`;
}

export const grouped = (value: number): string => value.toLocaleString('en-US');

/** `1,000 rows`. */
export const counted = (count: number, what: string): string => `${grouped(count)} ${what}${count === 1 ? '' : 's'}`;

export const indented = (text: string): string =>
  text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
