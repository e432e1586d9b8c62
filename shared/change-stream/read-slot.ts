import type { Runtime } from '../base/runtime.ts';
import type { Nanos } from '../model/change.ts';
import { Claims } from '../slots/claims.ts';
import { openSlot } from '../slots/open-slot.ts';
import type { SlotSession } from '../slots/session.ts';
import type { HeldPartition } from './ledger/partition.ts';
import { bytesOfPartition, giveBackTo } from './ledger/partition-updates.ts';
import { PartitionClaims } from './partition-claims.ts';
import { PartitionEnds } from './partition-ends.ts';
import type { ChangeStreamStore, LedgerWrite, Source } from './ports.ts';
import { type SessionCounts, StreamSlotWork } from './slot-work.ts';
import type { OpenUnit, SessionEnd, StreamWork } from './stream-work.ts';

/** What an invocation of a slot did, as it is answered. */
export type SlotReport =
  /** The source is not read: it was not started yet, is stopped or paused, or done. */
  | { readonly outcome: 'idle'; readonly status: string }
  /** Another invocation has the slot, and is at work. */
  | { readonly outcome: 'held'; readonly by: string }
  | ({ readonly outcome: 'worked' } & SessionCounts);

export interface SlotReading {
  /** From 0. */
  readonly slot: number;
  /** Unique to this invocation. */
  readonly owner: string;
  readonly store: ChangeStreamStore;
  /** By what the source was started with; asked before the slot is taken. Rejects where this deployment is not for that. */
  readonly workOf: (source: Source) => Promise<StreamWork>;
  /** The way to the topic, under the lease of the slot. */
  readonly toolsFor: (session: SlotSession<HeldPartition, LedgerWrite>) => {
    readonly openUnit: OpenUnit;
    close(): void;
  };
  /** Where a partition goes on whose position the table no longer keeps. Absent: it stands still. */
  readonly fallback?: (now: number) => Nanos;
  readonly parallelism: number;
  readonly maxConcurrentStreams: number;
  readonly commitIntervalMillis: number;
  readonly runtime: Runtime;
}

/**
 * One invocation of a slot: looks whether the source is read at all; takes the slot; reads partitions until its time is used up;
 * gives everything back.
 */
export async function readSlot(reading: SlotReading, ending: SessionEnd): Promise<SlotReport> {
  const { slot, owner, store, workOf, toolsFor, fallback, parallelism, runtime } = reading;
  const source = await store.readSource(ending.stop);
  if (source?.status !== 'reading') return { outcome: 'idle', status: source?.status ?? 'not started' };

  const work = await workOf(source);
  let tail: number | undefined;
  const dependencies = { store, giveBack: giveBackTo(() => tail), runtime };
  const opened = await openSlot(slot, owner, dependencies, ending.end);
  if (opened.kind === 'held') return { outcome: 'held', by: opened.by };
  const { session } = opened;
  const tools = toolsFor(session);
  try {
    const { endTime } = source;
    const queue = new PartitionClaims(source, { session, store, fallback, runtime });
    const ends = new PartitionEnds({
      ...{ session, store, runtime, stop: ending.end },
      isBounded: endTime !== undefined,
      retentionMillis: () => source.retention?.millis,
    });
    const slotWork = new StreamSlotWork({
      ...reading,
      ...{ source, session, queue, ends, ending },
      claims: new Claims({ parallelism, bytesOf: bytesOfPartition }, session, dependencies),
      work,
      openUnit: tools.openUnit,
      onReleasing(tailRound) {
        tail = tailRound;
      },
    });
    await slotWork.run();
    return { outcome: 'worked', ...slotWork.counts };
  } finally {
    tools.close();
  }
}
