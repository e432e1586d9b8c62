import type { Metadata } from '@grpc/grpc-js';
import { FeatureFlags } from '../../../../../shared/proto/google/bigtable/v2/feature_flags.ts';

const FEATURES_HEADER = 'bigtable-features';

/** What the caller says that it understands; nothing where it does not say. */
export function announcedFeatures(metadata: Metadata): FeatureFlags {
  const [header] = metadata.get(FEATURES_HEADER);
  return FeatureFlags.decode(typeof header === 'string' ? Buffer.from(header, 'base64url') : Buffer.alloc(0));
}
