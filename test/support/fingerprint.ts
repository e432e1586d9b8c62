import { fingerprintOf, type OwnFingerprint } from '../../shared/staged/fingerprint.ts';

/** Of a pipeline whose configuration does not change. */
export const TEST_FINGERPRINT: OwnFingerprint = {
  own: fingerprintOf({ markerFamily: 'markers', framing: 'single', subscription: 'records' }),
};
