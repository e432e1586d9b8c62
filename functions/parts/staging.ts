import { randomUUID } from 'node:crypto';
import type { ResolvedStagedSink, ResolvedStaging } from '../../shared/config/resolved.ts';
import { weightOf } from '../../shared/staged/stage/backlog-view.ts';
import { Backpressure } from '../../shared/staged/stage/backpressure.ts';
import type { StagedSink } from '../../shared/staged/stage/stage-message.ts';
import { Stager } from '../../shared/staged/stage/stager.ts';
import type { Instance } from './instance.ts';
import { StageDatabases } from './stage-databases.ts';

/** Where an instance keeps its envelopes: what of a {@link StagedSink} depends on the commit. */
export interface Keeper extends Pick<StagedSink, 'admit' | 'keep'> {
  readonly sweep: () => void;
  readonly close: () => Promise<void>;
}

/** Keeps envelopes in Firestore until a checkpoint owns them. */
export function openStaging({ name, runtime }: Instance<ResolvedStagedSink>, staging: ResolvedStaging): Keeper {
  const databases = new StageDatabases();
  const { staging: store } = databases.stores(staging.firestore, name);
  const backpressure = new Backpressure(staging, { store, runtime });
  const stager = new Stager({ store, runtime, newSegmentId: randomUUID });
  return {
    admit: () => {
      backpressure.admit();
    },
    async keep(received, signal) {
      const envelopes = received.map(({ envelope }) => envelope);
      await backpressure.during(weightOf(envelopes), () => stager.stage(envelopes, signal));
    },
    sweep: () => undefined,
    close: () => databases.close(),
  };
}
