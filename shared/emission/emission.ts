import { onAbort } from '../base/abort.ts';
import type { Runtime } from '../base/runtime.ts';
import type { Publisher } from '../model/publishing.ts';
import { ByteBudget } from './byte-budget.ts';
import { endedBy } from './publishing/deliver.ts';
import { EmissionError } from './failure.ts';
import { PackBuffers } from './messages/pack-buffers.ts';
import type { SendPublish } from './ports.ts';
import { singlePublisher } from './publishing/single-message.ts';
import { TopicPublisher } from './publishing/topic-publisher.ts';
import { type TopicProblem, TopicState } from './publishing/topic-state.ts';
import type { UnitEmission, UnitOptions } from './unit.ts';
import { Unit } from './unit-emission.ts';

export type { UnitEmission, UnitOptions } from './unit.ts';

export interface EmissionDependencies {
  readonly send: SendPublish;
  readonly runtime: Runtime;
  /** How long the lease surely lasts: no attempt begins that would not end 2 s before. */
  readonly remainingMillis: () => number;
  /** Ends everything: the slot's time is used up, or its lease is lost. */
  readonly signal: AbortSignal;
  /** Bytes on their way, over all units, of messages below the cap: one more may exceed it. */
  readonly maxOutstandingBytes: number;
}

/** The way of all units of one slot to their topics, under one bound of bytes on their way. */
export interface Emission {
  /** @param onConfirmed told of a position when the last message before it is confirmed; it must not throw. */
  open<Position>(options: UnitOptions, onConfirmed?: (position: Position) => void): UnitEmission<Position>;
  /** A topic for messages that are waited for one by one: letters, the end of a run. */
  publisher(topic: string): Publisher;
  /** What keeps a topic from taking messages, for the status of a run; undefined when nothing does. */
  readonly problem: TopicProblem | undefined;
  /** Ends what is left. Not before every unit is settled, or nobody counts on what is on its way. */
  close(): void;
}

/**
 * A message's way: it waits for room in the budget, enters the window of its unit, waits in the line of its ordering key,
 * leaves in a request with what gathered beside it, and is confirmed; then the position of its unit may move.
 */
export function createEmission(dependencies: EmissionDependencies): Emission {
  const { runtime, signal, maxOutstandingBytes } = dependencies;
  const topics = new Map<string, { readonly publisher: TopicPublisher; readonly state: TopicState }>();
  const units = new Set<Pick<Unit<unknown>, 'packedBytes' | 'flush' | 'fail'>>();

  /** Whoever waits for room waits for what is on its way: it must not be what waits to be packed with more. */
  const flushIfPacked = (): void => {
    let packed = 0;
    for (const unit of units) packed += unit.packedBytes;
    if (packed < maxOutstandingBytes / 2) return;
    for (const unit of units) unit.flush();
  };
  const budget = new ByteBudget(maxOutstandingBytes, flushIfPacked);
  const packBuffers = new PackBuffers();
  runtime.metrics.observe('emissionWindowBytes', () => budget.bytes);

  const topicOf = (topic: string): { readonly publisher: TopicPublisher; readonly state: TopicState } => {
    let known = topics.get(topic);
    if (!known) {
      const state = new TopicState(topic, runtime);
      known = { state, publisher: new TopicPublisher({ ...dependencies, state }) };
      topics.set(topic, known);
    }
    return known;
  };
  const endAll = (reason: EmissionError): void => {
    for (const unit of units) unit.fail(reason);
  };
  const forget = onAbort(signal, () => {
    endAll(endedBy(signal));
  });

  return {
    open<Position>(options: UnitOptions, onConfirmed?: (position: Position) => void) {
      const { publisher } = topicOf(options.topic);
      const onClose = (): void => {
        units.delete(unit);
      };
      const unit: Unit<Position> = new Unit<Position>(
        options,
        { budget, packBuffers, publisher, signal },
        onClose,
        onConfirmed,
      );
      units.add(unit);
      if (signal.aborted) unit.fail(endedBy(signal));
      return unit;
    },
    publisher: (topic) => singlePublisher(topic, topicOf(topic).publisher),
    get problem() {
      for (const { state } of topics.values()) if (state.problem) return state.problem;
      return undefined;
    },
    close() {
      forget();
      endAll(new EmissionError('ended', 'the slot gave everything back'));
    },
  };
}
