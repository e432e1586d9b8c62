import * as z from 'zod';
import { choice, count, declare, duration, optional } from '../option.ts';
import type { DeadLetterPayload } from '../resolved.ts';
import { pubSubName } from './shared.ts';

/** What becomes of a record that is itself wrong: the serializer refused it, or Bigtable refused its row alone. */

const PAYLOADS: Readonly<Record<Exclude<DeadLetterPayload, 'record'>, string>> = {
  entry:
    'the serialized row entry, which can be published back as it is, or the record as it was published. A record that has no entry, because the serializer refused it, or whose entry does not fit in a message is carried as it was published.',
  request:
    'the whole request, which can be published back as it is, or the record as it was published. A record that has no request, because the serializer refused it, or whose request does not fit in a message is carried as it was published.',
};

const sectionWith = <const Payloads extends readonly [DeadLetterPayload, ...DeadLetterPayload[]]>(
  payloads: Payloads,
  carries: string,
) =>
  z.strictObject({
    topic: pubSubName(
      'Topic that dead letters are published to; it must exist, and must not be the topic of the pipeline. Needed by the policy dead-letter.',
      'topics',
    ),
    payload: choice(`What a dead letter carries: ${carries}`, payloads, payloads[0]),
    maxOutstandingMessages: count(
      'Dead letters published and not yet confirmed, per instance. At the bound the next one waits.',
      { default: 1_000, min: 1, max: 10_000 },
    ),
    flushTimeout: duration(
      'Longest wait for dead letters to be confirmed before their messages are given back for redelivery. One budget for all of an invocation, and never beyond its deadline.',
      { default: '60s', min: '1ms' },
    ),
    shutdownTimeout: duration(
      'Longest wait for the publisher to close when the instance stops. What is unconfirmed by then is delivered again.',
      { default: '30s', min: '1ms' },
    ),
  });

/** Made once each, so that kinds with the same payloads share one section. */
const SECTIONS = {
  entry: sectionWith(['entry', 'record'], PAYLOADS.entry),
  request: sectionWith(['request', 'record'], PAYLOADS.request),
} as const;

const failurePolicy = choice(
  'What becomes of a record that is itself wrong: its message is not acknowledged and comes back, or it is logged and dropped, or it is published to deadLetter.topic. Outages and missing tables never reach a policy.',
  ['fail', 'log-and-drop', 'dead-letter'],
  'fail',
);

const deadLetterOption = <Section extends z.ZodType>(section: Section, neededBy: string) =>
  declare(optional(section), `Where and how dead letters are published. ${neededBy}`, { type: 'section' });

const NEEDED_BY_POLICY = 'Needed by the failurePolicy dead-letter and refused beside any other.';

/** Of a sink whose dead letters hold entries. */
export const failureOptions = { failurePolicy, deadLetter: deadLetterOption(SECTIONS.entry, NEEDED_BY_POLICY) };

/** Of a sink whose dead letters hold requests. */
export const requestFailureOptions = {
  failurePolicy,
  deadLetter: deadLetterOption(SECTIONS.request, NEEDED_BY_POLICY),
};

/** Of a sink that also learns, after the acknowledgement, that Bigtable refuses a row. */
export const stagedFailureOptions = {
  failurePolicy,
  onRejected: choice(
    'What becomes of an envelope that Bigtable refuses, or that is older than markerHorizon allows: its segment stays and is tried again, so that somebody can fix the table, or it is published to deadLetter.topic and counts as done. Envelopes of other segments go on either way.',
    ['fail', 'dead-letter'],
    'fail',
  ),
  deadLetter: deadLetterOption(
    SECTIONS.entry,
    'Needed by the failurePolicy dead-letter and by onRejected dead-letter, and refused without either.',
  ),
};

/** What defaults may say for pipelines of several kinds: each takes what it has a use for. */
export const sharedDeadLetter = deadLetterOption(
  sectionWith(['entry', 'request', 'record'], 'an entry, a request, or the record as it was published.'),
  'Inherited by pipelines that publish dead letters.',
);
