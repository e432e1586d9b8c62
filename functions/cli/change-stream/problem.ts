import { formatRange, type RowRange } from '../../../shared/model/row-range.ts';

/** Problems of partitions as they are shown: without the keys of single rows, and, where ranges are not shown, without any. */

/** Problems that name the row which they are about. */
const OF_A_ROW: readonly (readonly [RegExp, string])[] = [
  [/a change of the row .* has more than (\d+) bytes/s, 'a change has more than $1 bytes'],
  [/^the change of row .* has no form: .*/s, 'a change has no form: the log of readChangeStream names the row and why'],
];

/** Beginnings of problems that name no row key, up to where the text of a service begins. */
const KEYLESS: readonly RegExp[] = [
  /^ReadChangeStream of \S+ ended with [A-Z_]+/,
  /^Publish to \S+?: [A-Z_]+/,
  /^a change has no form: .*/,
  /^the partition was read to \S+, and the service keeps nothing before .*/s,
];

const NOT_SHOWN = 'not shown, as it may name a row key; the log of readChangeStream tells it';

/**
 * @param range of the partition whose problem it is.
 * @param hasRanges false: no text is shown that somebody else has written.
 */
export function problemShown(problem: string, range: RowRange, hasRanges: boolean): string {
  const rowless = OF_A_ROW.reduce((text, [pattern, shown]) => text.replace(pattern, shown), problem);
  if (hasRanges) return rowless;
  const text = withoutRange(rowless, formatRange(range));
  const beginning = KEYLESS.map((pattern) => pattern.exec(text)?.[0]).find((found) => found !== undefined);
  if (beginning === undefined) return NOT_SHOWN;
  const tooLarge = /: (a change has more than \d+ bytes; raise maxMutationBytes)/.exec(text)?.[1];
  return tooLarge === undefined ? beginning : `${beginning}: ${tooLarge}`;
}

function withoutRange(problem: string, range: string): string {
  const reading = `ReadChangeStream of ${range} of `;
  if (problem.startsWith(reading)) return `ReadChangeStream of ${problem.slice(reading.length)}`;
  return problem.startsWith(`${range} was read`) ? `the partition${problem.slice(range.length)}` : problem;
}
