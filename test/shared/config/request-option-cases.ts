import { MAX_DURATION_MILLIS } from '../../../shared/config/units.ts';
import type { ResolvedRequestOptions } from '../../../shared/config/resolved.ts';
import { LONGEST, type OptionCase, UNITS } from './option-cases.ts';

/** Of every kind that sends requests. */
export const REQUEST_OPTION_CASES: readonly OptionCase<{ readonly requestOptions: ResolvedRequestOptions }>[] = [
  {
    path: 'requestOptions.requestTimeout',
    read: ({ requestOptions }) => requestOptions.requestTimeoutMillis,
    fallback: 20_000,
    accepted: [
      ['1ms', 1],
      [LONGEST, MAX_DURATION_MILLIS],
    ],
    refused: ['0ms'],
    rule: `must be a duration, at least 1ms, ${UNITS} "20s"`,
  },
  {
    path: 'requestOptions.maxInFlightRequests',
    read: ({ requestOptions }) => requestOptions.maxInFlightRequests,
    fallback: 100,
    accepted: [[1, 1]],
    refused: [0, -1, 1.5, '100'],
    rule: 'must be a whole number, at least 1',
  },
  {
    path: 'requestOptions.destinationIdleTimeout',
    read: ({ requestOptions }) => requestOptions.destinationIdleTimeoutMillis,
    fallback: 3_600_000,
    accepted: [['1ms', 1]],
    refused: ['0h'],
    rule: `must be a duration, at least 1ms, ${UNITS} "1h"`,
  },
  {
    path: 'requestOptions.maxActiveInstances',
    read: ({ requestOptions }) => requestOptions.maxActiveInstances,
    fallback: 16,
    accepted: [[1, 1]],
    refused: [0],
    rule: 'must be a whole number, at least 1',
  },
  {
    path: 'requestOptions.perDestinationMetrics',
    read: ({ requestOptions }) => requestOptions.perDestinationMetrics,
    fallback: false,
    accepted: [[true, true]],
    refused: ['yes'],
    rule: 'must be true or false',
  },
];
