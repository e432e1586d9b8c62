/** Durations and sizes as people write them: a whole number and its unit, nothing between. Pure. */

const DURATION_UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const;

const SIZE_UNITS = [
  ['GiB', 2 ** 30],
  ['MiB', 2 ** 20],
  ['KiB', 2 ** 10],
  ['GB', 1_000_000_000],
  ['MB', 1_000_000],
  ['kB', 1_000],
  ['B', 1],
] as const;

/** The longest duration, in whole milliseconds: 2^63 − 1 nanoseconds, about 292 years. */
export const MAX_DURATION_MILLIS = 9_223_372_036_854;

export const DURATION_PATTERN = /^[0-9]+(ms|s|m|h|d)$/;
export const SIZE_PATTERN = /^[0-9]+(B|KiB|MiB|GiB|kB|MB|GB)$/;

/** Milliseconds of `250ms`, `10s`, `5m`, `1h`, `7d`; undefined for any other spelling. */
export const parseDuration = (text: string): number | undefined => parse(text, DURATION_PATTERN, DURATION_UNITS);

/** Bytes of `512B`, `64KiB`, `4MiB`, `1GiB` or the decimal `kB`, `MB`, `GB`; undefined for any other spelling. */
export const parseSize = (text: string): number | undefined => parse(text, SIZE_PATTERN, SIZE_UNITS);

/** The shortest exact spelling of a whole number of milliseconds: `90000` is `90s`. */
export const formatDuration = (millis: number): string => format(millis, DURATION_UNITS, 'ms');

/** The shortest exact spelling in binary units: `4194304` is `4MiB`. */
export const formatSize = (bytes: number): string => format(bytes, SIZE_UNITS.slice(0, 3), 'B');

type Units = readonly (readonly [suffix: string, factor: number])[];

function parse(text: string, pattern: RegExp, units: Units): number | undefined {
  const suffix = pattern.exec(text)?.[1];
  const factor = units.find(([name]) => name === suffix)?.[1];
  return factor === undefined ? undefined : Number.parseInt(text, 10) * factor;
}

function format(value: number, units: Units, smallest: string): string {
  const unit = value === 0 ? undefined : units.find(([, factor]) => value % factor === 0);
  return unit ? `${value / unit[1]}${unit[0]}` : `${value}${smallest}`;
}
