import { randomBytes } from 'node:crypto';
import type { ResolvedStagedSink, ResolvedStaging } from '../../shared/config/resolved.ts';
import { weightOf } from '../../shared/staged/stage/backlog-view.ts';
import { Backpressure } from '../../shared/staged/stage/backpressure.ts';
import type { StagedSink } from '../../shared/staged/stage/stage-message.ts';
import { PipelineWatch } from '../../shared/staged/stage/pipeline-watch.ts';
import { defaultLingerMillis, Stager } from '../../shared/staged/stage/stager.ts';
import type { Instance } from './instance.ts';
import { ownFingerprintOf } from './own-fingerprint.ts';
import { Databases } from './databases.ts';

/** Where an instance keeps its envelopes: what of a {@link StagedSink} depends on the commit. */
export interface Keeper extends Pick<StagedSink, 'admit' | 'keep'> {
  /** Nothing waits for company any longer. */
  readonly drain: () => void;
  readonly sweep: () => void;
  readonly close: () => Promise<void>;
}

/** Keeps envelopes in Firestore until their checkpoint is complete. */
export function openStaging(
  { name, pipeline, runtime }: Instance<ResolvedStagedSink>,
  staging: ResolvedStaging,
): Keeper {
  const databases = new Databases();
  const { staging: store } = databases.of(staging.firestore).stage(name);
  const watch = new PipelineWatch(staging.checkpointIntervalMillis, {
    store,
    runtime,
    fingerprint: ownFingerprintOf(pipeline, staging),
  });
  const backpressure = new Backpressure(staging, { store, watch, runtime });
  const stager = new Stager(
    {
      lingerMillis: staging.stageLingerMillis ?? defaultLingerMillis(staging.checkpointIntervalMillis),
      maxWaitingMessages: staging.stageWaitingMessages,
    },
    { store, numbers: watch, runtime, newRandomId: () => randomBytes(8).toString('hex') },
  );
  return {
    admit: () => {
      backpressure.admit();
    },
    async keep(received, signal) {
      const envelopes = received.map(({ envelope }) => envelope);
      await backpressure.during(weightOf(envelopes), () => stager.stage(envelopes, signal));
    },
    drain: () => {
      stager.drain();
    },
    sweep: () => undefined,
    close: () => databases.close(),
  };
}
