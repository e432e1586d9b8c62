import type { ResolvedStagedSink } from '../../shared/config/resolved.ts';
import type { FailurePolicy } from '../../shared/letters/policy.ts';
import { writeOnReceipt } from '../../shared/staged/write/write-envelopes.ts';
import type { Instance } from './instance.ts';
import { openMarkedWriting } from './marked-writing.ts';
import type { Keeper } from './staging.ts';

/** Keeps envelopes where they belong, in their rows. Pub/Sub itself is what holds back what is too much. */
export function openReceipt(instance: Instance<ResolvedStagedSink>, onRejected: FailurePolicy): Keeper {
  const { runtime } = instance;
  const writing = openMarkedWriting(instance);
  return {
    admit: () => undefined,
    keep: (received, signal) => writeOnReceipt(received, { ...writing, onRejected, runtime }, signal),
    drain: () => undefined,
    sweep: writing.sweep,
    close() {
      writing.close();
      return Promise.resolve();
    },
  };
}
