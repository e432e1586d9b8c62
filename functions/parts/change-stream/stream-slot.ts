import { Semaphore } from '../../../shared/base/semaphore.ts';
import { changeFilter } from '../../../shared/change-stream/change-filter.ts';
import { changeMessages } from '../../../shared/change-stream/forms/change-messages.ts';
import { sourceAttributes } from '../../../shared/change-stream/forms/attributes.ts';
import { envelopeForm } from '../../../shared/change-stream/forms/envelope-form.ts';
import { requestedStart } from '../../../shared/change-stream/ledger/start-position.ts';
import type { ChangeStreamStore, Source } from '../../../shared/change-stream/ports.ts';
import { readSlot, type SlotReport } from '../../../shared/change-stream/read-slot.ts';
import type { ReadChangeStream } from '../../../shared/change-stream/reading/ports.ts';
import { createOpenPartition } from '../../../shared/change-stream/reading/read-partition-stream.ts';
import type { StreamWork } from '../../../shared/change-stream/stream-work.ts';
import type { ResolvedChangeStreamSource } from '../../../shared/config/resolved.ts';
import { createEmission } from '../../../shared/emission/emission.ts';
import type { SendPublish } from '../../../shared/emission/ports.ts';
import type { Logger } from '../../../shared/base/logging.ts';
import type { Instance } from '../instance.ts';
import type { SlotEnding } from '../slots/slot-handler.ts';
import { frozenOptions } from './frozen-options.ts';
import { startPositionOf } from './positions.ts';

/** What the slots of an instance share, over all invocations. */
export interface StreamSurroundings {
  readonly store: ChangeStreamStore;
  readonly readChangeStream: ReadChangeStream;
  readonly send: SendPublish;
}

/** One invocation of a slot, with everything that it works by. @param owner unique to it. */
export function readStreamSlot(
  slot: number,
  owner: string,
  { pipeline, runtime }: Instance<ResolvedChangeStreamSource>,
  { store, readChangeStream, send }: StreamSurroundings,
  ending: SlotEnding,
): Promise<SlotReport> {
  const { slots, stream } = pipeline;
  const { fallback } = stream;
  const openPartition = createOpenPartition({ readChangeStream, largeChanges: new Semaphore(1), runtime });
  return readSlot(
    {
      ...{ slot, owner, store, runtime },
      workOf: (source) => streamWork(pipeline, openPartition, source, runtime.logger),
      // The earliest that is kept is what any older time becomes.
      ...(fallback && { fallback: (now: number) => requestedStart(startPositionOf(fallback), now) ?? 0n }),
      parallelism: slots.parallelism,
      maxConcurrentStreams: stream.maxConcurrentStreams,
      commitIntervalMillis: slots.commitIntervalMillis,
      toolsFor(session) {
        const emission = createEmission({
          ...{ send, runtime },
          remainingMillis: () => session.remainingMillis(),
          signal: AbortSignal.any([ending.end, session.lost]),
          maxOutstandingBytes: slots.maxOutstandingBytes,
        });
        return {
          openUnit: (options, onConfirmed) => emission.open(options, onConfirmed),
          close: () => {
            emission.close();
          },
        };
      },
    },
    ending,
  );
}

/** What the partitions of a source are read with, and which of their changes are handed on in which form. */
export async function streamWork(
  { table, appProfileId, stream, emission }: ResolvedChangeStreamSource,
  openPartition: ReturnType<typeof createOpenPartition>,
  { options: frozen, endTime }: Source,
  logger: Logger,
): Promise<StreamWork> {
  const { topic, maxRecordsPerMessage, oversizedMessage, failurePolicy } = emission;
  const { orderingKeys } = frozenOptions(frozen, table);
  if (orderingKeys !== emission.orderingKeys) {
    logger.log(
      'WARNING',
      'orderingKeys are those that the source was started with: others would change the order of what is not delivered yet',
      {
        orderingKeys,
        configured: emission.orderingKeys,
      },
    );
  }
  const isPacked = maxRecordsPerMessage > 1;
  const form = envelopeForm(table);
  const options = {
    ...{ table, appProfileId, maxMutationBytes: stream.maxMutationBytes },
    ...(endTime !== undefined && { endTime }),
  };
  // An instance whose source hands everything on, or is not read, loads nothing for it.
  const filter = stream.filter && (await changeFilter(stream.filter));
  return {
    ...(filter && { filter }),
    open: (range, position, signal) => openPartition(range, position, options, signal),
    messagesOf: changeMessages({ table, form, orderingKeys, isPacked }),
    unit: {
      ...{ topic, maxRecordsPerMessage, oversizedMessage, failurePolicy },
      attributes: sourceAttributes(table, form, isPacked),
      setApart: () => Promise.reject(new TypeError('a change is never set apart')),
    },
  };
}
