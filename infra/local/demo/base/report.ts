import { textTable } from '../../../../shared/base/text-table.ts';
import type { LocalCloud } from '../../cloud/cloud.ts';
import type { RunningFunction } from '../../run/start-functions.ts';
import { DATA_SET } from './flights.ts';
import type { Check } from './verdict.ts';

/** The words that every run begins and ends with. */

export const count = (value: number): string => value.toLocaleString('en');

/** Where the data are from and where everything runs, then what is about to happen. */
export function introduction(
  title: string,
  { services }: Pick<LocalCloud, 'services'>,
  functions: readonly RunningFunction[],
  about: readonly string[],
): string {
  return [
    title,
    `  source:  ${DATA_SET.source}`,
    `  licence: ${DATA_SET.licence}`,
    '',
    textTable([
      ['what', 'kind', 'where'],
      ...services.map(({ service, kind, endpoint }) => [service, kind, endpoint]),
      ...functions.map(({ entryPoint, pipeline, process: { url, pid } }) => [
        // Where one function is all there is, nobody asks whose.
        pipeline === undefined || functions.length === 1 ? entryPoint : `${entryPoint} of ${pipeline}`,
        ...['functions-framework', `${url} (process ${pid})`],
      ]),
    ]),
    '',
    ...about,
    '',
  ].join('\n');
}

/** With an empty line after it. */
export function describeChecks(checks: readonly Check[]): string {
  const rows = checks.map(({ what, got, mustBe, isRight }) => [
    what,
    count(got),
    count(mustBe),
    isRight ? 'ok' : 'WRONG',
  ]);
  return `${textTable([['what', 'got', 'must be', ''], ...rows], { numbersToTheRight: true })}\n`;
}
