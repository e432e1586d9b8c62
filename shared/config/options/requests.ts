import * as z from 'zod';
import { declare, flag, type Output } from '../option.ts';
import { count, duration, type InMillis, inMillis } from '../quantity.ts';

/** How requests on single rows are sent: one attempt each, its whole time bounded. */

const requestSection = z.strictObject({
  requestTimeout: duration(
    'Deadline of the one attempt of a request, waiting for a client included; never beyond the deadline of the invocation. Whether a request without an answer by then was applied is unknown.',
    { default: '20s', min: '1ms' },
  ),
  maxInFlightRequests: count('Requests sent and not yet answered, per instance. At the bound the next one waits.', {
    default: 100,
    min: 1,
  }),
  destinationIdleTimeout: duration(
    'How long a table may go without a request before its client is closed, with what was learnt about the table. It is opened again at the next request.',
    { default: '1h', min: '1ms' },
  ),
  maxActiveInstances: count(
    'Bigtable clients kept open per function instance. Beyond it the least recently used one is drained and closed.',
    { default: 16, min: 1 },
  ),
  perDestinationMetrics: flag(
    'Whether requests and failures are also counted per table. Many tables make many time series.',
    false,
  ),
});

export const requestOptions = {
  requestOptions: declare(requestSection.prefault({}), 'How requests are sent. Every option has a default.', {
    type: 'section',
  }),
};

type RequestOptions = Output<typeof requestOptions>;
export type ResolvedRequestOptions = InMillis<z.output<typeof requestSection>>;

export const requestOptionsOf = ({ requestOptions: options }: RequestOptions): ResolvedRequestOptions =>
  inMillis(requestSection.shape, options);
