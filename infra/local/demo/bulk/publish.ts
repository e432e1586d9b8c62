import { publishAll, type PublishOptions } from '../base/publish.ts';
import { messageData, type PlannedMessage } from './plan.ts';

/** What was published so far: message id → what it carries. A message published twice has two ids. */
export type Published = Map<string, PlannedMessage>;

/** Publishes the plan and notes the ids it was given; see {@link publishAll}. */
export const publish = (
  plan: readonly PlannedMessage[],
  published: Published,
  options: PublishOptions<PlannedMessage>,
): Promise<void> => publishAll(plan, published, (message) => ({ data: messageData(message) }), options);
