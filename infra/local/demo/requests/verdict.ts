import type { TableDifference } from '../base/read-back.ts';
import { exactly, type Check } from '../base/verdict.ts';
import { airportDay, flightId, type RequestMessage } from './plan.ts';
import type { Result } from './results.ts';

/** What happened, from every side that can see some of it. */
export interface RequestsObserved {
  /** Message id → what it asked for. */
  readonly published: ReadonlyMap<string, RequestMessage>;
  readonly waitingMessages: number;
  readonly results: Readonly<Record<'first' | 'latest', readonly Result[]>>;
  /** The table `airport-days`: row key → flight that is in it. */
  readonly airportDays: ReadonlyMap<string, string>;
  readonly markers: number;
  readonly routes: TableDifference;
  /** What the counter said after each request over HTTP. */
  readonly counted: readonly string[];
}

/** Holds what happened against what must have. Pure. */
export function judgeRequests(messages: number, observed: RequestsObserved): Check[] {
  const { published, results, airportDays, routes } = observed;
  const days = new Set([...published.values()].map(({ flight }) => airportDay(flight)));
  const { untold, untrue } = compareClaims(observed);
  return [
    exactly('messages published', published.size, messages),
    exactly('messages left', observed.waitingMessages, 0),
    ...(['first', 'latest'] as const).flatMap((name) => {
      const answered = new Set(results[name].map(({ correlationId }) => correlationId));
      const known = [...answered].filter((id) => published.has(id)).length;
      return [
        exactly(`${name}: requests answered`, known, messages),
        exactly(`${name}: answers to nobody`, answered.size - known, 0),
      ];
    }),
    exactly('first: airports and days', airportDays.size, days.size),
    exactly('first: markers, one for each request', observed.markers, messages),
    exactly('first: writers that were not told', untold, 0),
    exactly('first: others that were told that they wrote', untrue, 0),
    exactly('latest: routes read back', routes.rowsRead, routes.rowsExpected),
    exactly('latest: rows missing or unexpected', routes.missingRows + routes.unexpectedRows, 0),
    exactly('latest: cells different', routes.differentCells, 0),
    ...observed.counted.map((value, index) =>
      exactly(`a counter over HTTP, request ${index + 1}`, Number(value), index + 1),
    ),
  ];
}

/** The table knows who wrote a row; what results say must be the same. */
function compareClaims({ published, results, airportDays }: RequestsObserved): { untold: number; untrue: number } {
  const writers = new Set<string>();
  for (const [messageId, { flight }] of published) {
    if (airportDays.get(airportDay(flight)) === flightId(flight)) writers.add(messageId);
  }
  const told = new Set<string>();
  let untrue = 0;
  for (const { correlationId, hasWritten, mayBeReplayed } of results.first) {
    if (hasWritten && !writers.has(correlationId)) untrue += 1;
    if (hasWritten || mayBeReplayed) told.add(correlationId);
  }
  return { untold: [...writers].filter((id) => !told.has(id)).length, untrue };
}
