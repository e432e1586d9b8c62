import type { ResolvedStagedSink } from '../shared/config/resolved.ts';
import { type StagedSink, stageMessage } from '../shared/staged/stage/stage-message.ts';
import { entryPoint, type Handler } from './parts/entry-point.ts';
import { entrySerializerOf } from './parts/entry-serializer.ts';
import { type Instance, startInstance } from './parts/instance.ts';
import type { Keeper } from './parts/staging.ts';
import { letterRightsOf, openLettersOf } from './parts/letters.ts';
import { pushHandler } from './parts/push-handler.ts';
import { type StagedPolicies, stagedPoliciesOf } from './parts/failure-policies.ts';
import { type Environment, ownProcess, type Surroundings } from './parts/surroundings.ts';

/**
 * Pub/Sub push → envelopes, each applied to its row exactly once. 204 acknowledges: every record of the message is
 * stored in Firestore, or with the commit on-receipt in its row; is skipped, or durably handed to the failure policy.
 */
export const stagedSink = entryPoint(() => startStagedSink(process.env));

/** Builds one instance of the staged sink: configuration, the way to keep envelopes, and the function that answers a push. */
export async function startStagedSink(env: Environment, surroundings: Surroundings = ownProcess): Promise<Handler> {
  const instance = await startInstance('staged-sink', 'staged sink', env, surroundings);
  const { pipeline, name, baseDirectory, runtime } = instance;
  const { input, idAttribute, marker } = pipeline;
  const policies = stagedPoliciesOf(instance);
  const keeper = await openKeeper(instance, policies);
  const serializer = await entrySerializerOf(pipeline.serializer, baseDirectory);
  const sink: StagedSink = {
    serializer,
    letters: letterRightsOf(pipeline, serializer),
    destination: pipeline.destination,
    framing: input.framing,
    envelopes: {
      pipeline: name,
      subscription: input.subscription,
      framing: input.framing,
      ...(idAttribute !== undefined && { idAttribute }),
      appProfileId: pipeline.appProfileId ?? '',
      markerFamily: marker.family,
      ...(marker.horizonMillis !== undefined && { markerHorizonMillis: marker.horizonMillis }),
    },
    admit: keeper.admit,
    keep: keeper.keep,
    policy: policies.failure,
    perDestinationMetrics: pipeline.requestOptions.perDestinationMetrics,
    runtime,
  };
  return pushHandler(instance, {
    process: (message, signal) => stageMessage(message, sink, signal),
    openLetter: openLettersOf(name, pipeline),
    onDrain: keeper.drain,
    sweep: keeper.sweep,
    async close() {
      await policies.close();
      await keeper.close();
    },
  });
}

/** Each way is loaded alone: a stager needs no Bigtable, and a write on receipt no Firestore. */
async function openKeeper(instance: Instance<ResolvedStagedSink>, policies: StagedPolicies): Promise<Keeper> {
  const { commit } = instance.pipeline;
  switch (commit.when) {
    case 'on-checkpoint': {
      const { openStaging } = await import('./parts/staging.ts');
      return openStaging(instance, commit);
    }
    case 'on-receipt': {
      const { openReceipt } = await import('./parts/receipt.ts');
      return openReceipt(instance, policies.onRejected);
    }
    default:
      return commit satisfies never;
  }
}
