import * as z from 'zod';
import { choice, count, declare, duration, optional } from '../option.ts';
import { pubSubName } from './shared.ts';

/** What becomes of a record that is itself wrong: the serializer refused it, or Bigtable refused its row alone. */

export const deadLetterSection = z.strictObject({
  topic: pubSubName(
    'Topic that dead letters are published to; it must exist, and must not be the topic of the pipeline. Needed by the policy dead-letter.',
    'topics',
  ),
  payload: choice(
    'What a dead letter carries: the serialized row entry, which can be published back as it is, or the record as it was published. A record that has no entry, because the serializer refused it, or whose entry does not fit in a message is carried as it was published.',
    ['entry', 'record'],
    'entry',
  ),
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

export const failureOptions = {
  failurePolicy: choice(
    'What becomes of a record that is itself wrong: its message is not acknowledged and comes back, or it is logged and dropped, or it is published to deadLetter.topic. Outages and missing tables never reach a policy.',
    ['fail', 'log-and-drop', 'dead-letter'],
    'fail',
  ),
  deadLetter: declare(
    optional(deadLetterSection),
    'Where and how dead letters are published. Needed by the failurePolicy dead-letter and refused beside any other.',
    { type: 'section' },
  ),
};
