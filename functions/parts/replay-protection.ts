import { RedeliverError } from '../../shared/base/errors.ts';
import type { ResolvedRequestSink } from '../../shared/config/resolved.ts';
import type { ReplayProtection } from '../../shared/single-row/delivery.ts';
import type { Instance } from './instance.ts';
import { openTargetCheck } from './target-check.ts';

/**
 * Markers for the requests of an instance. A table is checked before its first request, as a staged sink checks it: its
 * profile must allow single-row transactions, and its marker family must keep what it is given.
 */
export function replayProtectionOf(markerFamily: string, instance: Instance<ResolvedRequestSink>): ReplayProtection {
  const targets = openTargetCheck(instance);
  const { appProfileId = '' } = instance.pipeline;
  return {
    markerFamily,
    async check(table, families, signal) {
      const unfit = await targets.check({ table, appProfileId, markerFamily }, families, signal);
      return unfit && new RedeliverError(unfit.reason, unfit.message);
    },
  };
}
