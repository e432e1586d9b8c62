import { lazy } from '../../shared/base/lazy.ts';
import type { FamilyType, ResolvedRequestSink, ResolvedStagedSink } from '../../shared/config/resolved.ts';
import { TargetCheck } from '../../shared/markers/target-check.ts';
import type { Instance } from './instance.ts';

/**
 * Looks at the tables that hold markers before anything is written to them. The admin adapter is loaded at the first
 * check.
 *
 * @param markerHorizonMillis markers may be collected after this age; absent: never.
 */
export function openTargetCheck(
  { pipeline, access, runtime }: Instance<ResolvedStagedSink | ResolvedRequestSink>,
  markerHorizonMillis?: number,
): TargetCheck {
  const admin = lazy(async () => {
    const { openTargetAdmin } = await import('../../shared/google/bigtable/target-admin.ts');
    return openTargetAdmin(access);
  });
  return new TargetCheck(
    {
      declaredFamilies: declaredBy(pipeline.serializer),
      idleMillis: pipeline.requestOptions.destinationIdleTimeoutMillis,
      ...(markerHorizonMillis !== undefined && { markerHorizonMillis }),
    },
    {
      admin: {
        readProfile: async (...call) => (await admin()).readProfile(...call),
        readFamilies: async (...call) => (await admin()).readFamilies(...call),
      },
      runtime,
    },
  );
}

/** The families that a mapping writes, by name, with their types; anything else declares none. */
function declaredBy(
  serializer: (ResolvedStagedSink | ResolvedRequestSink)['serializer'],
): Readonly<Record<string, FamilyType>> {
  if (serializer.kind !== 'mapping' || !('families' in serializer.mapping.write)) return {};
  const { families } = serializer.mapping.write;
  return Object.fromEntries(families.map(({ family, aggregate }) => [family, aggregate ?? 'raw']));
}
