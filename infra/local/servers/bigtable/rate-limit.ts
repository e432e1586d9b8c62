import type { Metadata } from '@grpc/grpc-js';
import type { RateLimitInfo } from '../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import { FeatureFlags } from '../../../../shared/proto/google/bigtable/v2/feature_flags.ts';

/** The metadata in which clients announce what they understand: `FeatureFlags`, base64url. */
const FEATURES_HEADER = 'bigtable-features';

/** Whether the caller announced that it obeys `RateLimitInfo`; the service sends it to no other. */
export function announcesRateLimit(metadata: Metadata): boolean {
  const [header] = metadata.get(FEATURES_HEADER);
  if (typeof header !== 'string') return false;
  const flags = FeatureFlags.decode(Buffer.from(header, 'base64url'));
  return flags.mutateRowsRateLimit || flags.mutateRowsRateLimit2;
}

/** Asks the caller to multiply its rate by `factor`, once per period. */
export const rateLimitInfo = ({ periodMillis, factor }: { periodMillis: number; factor: number }): RateLimitInfo => ({
  period: { seconds: BigInt(Math.floor(periodMillis / 1000)), nanos: (periodMillis % 1000) * 1_000_000 },
  factor,
});
