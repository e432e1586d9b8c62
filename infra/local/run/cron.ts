/**
 * Times of a schedule in the form of cron, in UTC: five fields (minute, hour, day of month, month, day of week), each a `*`,
 * numbers, ranges and steps in a list; months and days of week by their names too. Where both kinds of day are given, either
 * will do, as cron has it. Pure.
 */

interface Field {
  readonly values: ReadonlySet<number>;
  /** Whether it says anything. */
  readonly isGiven: boolean;
}

interface Schedule {
  readonly minute: Field;
  readonly hour: Field;
  readonly day: Field;
  readonly month: Field;
  readonly weekday: Field;
}

const MINUTE_MILLIS = 60_000;
const DAY_MILLIS = 24 * 60 * MINUTE_MILLIS;

/** The 29th of February that is a certain day of the week comes every 28 years. */
const FARTHEST_DAYS = 29 * 366;

/**
 * The first time of a schedule after `after`, in milliseconds since the epoch.
 *
 * @throws {RangeError} where the text is no schedule, or one that never comes.
 */
export function nextTime(cron: string, after: number): number {
  const schedule = parse(cron);
  let at = (Math.floor(after / MINUTE_MILLIS) + 1) * MINUTE_MILLIS;
  for (let day = 0; day < FARTHEST_DAYS; day += 1) {
    const endOfDay = (Math.floor(at / DAY_MILLIS) + 1) * DAY_MILLIS;
    if (isDay(schedule, new Date(at))) {
      for (; at < endOfDay; at += MINUTE_MILLIS) if (isMinute(schedule, new Date(at))) return at;
    }
    at = endOfDay;
  }
  throw new RangeError(`the schedule ${JSON.stringify(cron)} never comes`);
}

const isMinute = ({ minute, hour }: Schedule, at: Date): boolean =>
  minute.values.has(at.getUTCMinutes()) && hour.values.has(at.getUTCHours());

function isDay({ day, month, weekday }: Schedule, at: Date): boolean {
  if (!month.values.has(at.getUTCMonth() + 1)) return false;
  const isOfMonth = day.values.has(at.getUTCDate());
  const isOfWeek = weekday.values.has(at.getUTCDay());
  return day.isGiven && weekday.isGiven ? isOfMonth || isOfWeek : isOfMonth && isOfWeek;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

function parse(cron: string): Schedule {
  const fields = cron.trim().split(/\s+/);
  if (fields.length !== 5) throw new RangeError(`a schedule has five fields, got ${JSON.stringify(cron)}`);
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields;
  const { values, isGiven } = parseField(weekday, 0, 7, WEEKDAYS, 0);
  return {
    minute: parseField(minute, 0, 59),
    hour: parseField(hour, 0, 23),
    day: parseField(day, 1, 31),
    month: parseField(month, 1, 12, MONTHS, 1),
    // Sunday is 0, and 7 too.
    weekday: { values: new Set([...values].map((value) => value % 7)), isGiven },
  };
}

function parseField(text: string, least: number, most: number, names: readonly string[] = [], firstName = 0): Field {
  const numberOf = (part: string): number => {
    const name = names.indexOf(part.toLowerCase());
    const value = name >= 0 ? name + firstName : /^\d+$/.test(part) ? Number(part) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new RangeError(`a field of a schedule has numbers from ${least} to ${most}, got ${JSON.stringify(text)}`);
  };
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const [span = '', stepText] = part.split('/');
    const step = stepText === undefined ? 1 : Number(stepText);
    if (!Number.isInteger(step) || step < 1)
      throw new RangeError(`a step is a whole number, got ${JSON.stringify(text)}`);
    const [from, to] = spanOf(span, numberOf, least, stepText === undefined ? undefined : most);
    for (let value = from; value <= (to ?? most); value += step) values.add(value);
  }
  return { values, isGiven: text !== '*' };
}

/** @param openEnd where a lone number with a step ends. */
function spanOf(
  span: string,
  numberOf: (part: string) => number,
  least: number,
  openEnd: number | undefined,
): readonly [from: number, to: number | undefined] {
  if (span === '*') return [least, undefined];
  const [first = '', last] = span.split('-');
  const from = numberOf(first);
  return [from, last === undefined ? (openEnd ?? from) : numberOf(last)];
}
