import { lazy } from '../../shared/base/lazy.ts';
import type { ResolvedRequestSink, ResolvedStagedSink } from '../../shared/config/resolved.ts';
import { declaredFamilies } from '../../shared/mapping/declared/declared-families.ts';
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
  const { serializer } = pipeline;
  const admin = lazy(async () => {
    const { openTargetAdmin } = await import('../../shared/google/bigtable/target-admin.ts');
    return openTargetAdmin(access);
  });
  return new TargetCheck(
    {
      declaredFamilies: 'mapping' in serializer ? declaredFamilies(serializer.mapping) : {},
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
