import type { Clock } from '../../base/clock.ts';
import type { DeadLetterTopic } from '../../letters/ports.ts';
import { type ConfirmedTopicOptions, createConfirmedTopic } from './confirmed-topic.ts';

/** The dead-letter topic: a letter is durable once its publish is confirmed. */
export const createDeadLetterTopic = (options: ConfirmedTopicOptions, clock: Clock): DeadLetterTopic =>
  createConfirmedTopic(options, clock);
