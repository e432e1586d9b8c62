import type { ResolvedStagedSink, ResolvedStaging } from '../../shared/config/resolved.ts';
import { fingerprintOf, type OwnFingerprint } from '../../shared/staged/fingerprint.ts';

/** What this instance makes identities of, and what its operator has confirmed. */
export const ownFingerprintOf = (
  { marker, idAttribute, input }: Pick<ResolvedStagedSink, 'marker' | 'idAttribute' | 'input'>,
  { confirmChange }: ResolvedStaging,
): OwnFingerprint => ({
  own: fingerprintOf({
    markerFamily: marker.family,
    ...(idAttribute !== undefined && { idAttribute }),
    framing: input.framing,
    subscription: input.subscription,
  }),
  ...(confirmChange !== undefined && { confirmed: confirmChange }),
});
