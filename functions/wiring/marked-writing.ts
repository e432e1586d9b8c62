import { lazy } from '../../shared/base/lazy.ts';
import type { FamilyType, ResolvedSerializer, ResolvedStagedSink } from '../../shared/config/resolved.ts';
import { ClientPool } from '../../shared/google/bigtable/clients.ts';
import { createRowCalls } from '../../shared/google/bigtable/row-calls.ts';
import { MarkedWrites } from '../../shared/staged/marked-writes.ts';
import { TargetCheck } from '../../shared/staged/target-check.ts';
import type { EnvelopeWriting } from '../../shared/staged/write-envelopes.ts';
import { accessOf } from './access.ts';
import type { Instance } from './instance.ts';

/** What applies the envelopes of an instance, with the clients it sends by. */
export interface OpenedWriting extends EnvelopeWriting {
  /** Closes clients that have long been idle. Cheap. */
  readonly sweep: () => void;
  readonly close: () => void;
}

/** Connects at the first envelope; the admin adapter is loaded at the first check of a target. */
export function openMarkedWriting(instance: Instance<ResolvedStagedSink>): OpenedWriting {
  const { pipeline, baseDirectory, env, clock, random, metrics, logger } = instance;
  const { requestOptions, marker, serializer } = pipeline;
  const access = accessOf(pipeline.access, baseDirectory, env);
  const clients = new ClientPool({ ...access, ...requestOptions }, clock, metrics);
  const horizon = marker.horizonMillis === undefined ? {} : { markerHorizonMillis: marker.horizonMillis };
  const admin = lazy(async () => {
    const { openTargetAdmin } = await import('../../shared/google/bigtable/target-admin.ts');
    return openTargetAdmin(access);
  });
  const targets = new TargetCheck(
    { ...horizon, declaredFamilies: declaredBy(serializer), idleMillis: requestOptions.destinationIdleTimeoutMillis },
    {
      admin: {
        readProfile: async (...call) => (await admin()).readProfile(...call),
        readFamilies: async (...call) => (await admin()).readFamilies(...call),
      },
      clock,
      logger,
    },
  );
  const writes = new MarkedWrites(
    { ...requestOptions, ...horizon },
    { send: createRowCalls(clients), clock, random, metrics, logger },
  );
  return {
    writes,
    targets,
    sweep: () => {
      clients.sweep();
    },
    close: () => {
      clients.close();
    },
  };
}

/** The families that a mapping writes, by name; records that bring their own entries declare none. */
function declaredBy(serializer: ResolvedSerializer): Readonly<Record<string, FamilyType>> {
  if (serializer.kind !== 'mapping' || !('families' in serializer.mapping.write)) return {};
  const { families } = serializer.mapping.write;
  return Object.fromEntries(families.map(({ family, aggregate }) => [family, aggregate ?? 'raw']));
}
