import type { FailedRecord, FailedSource } from '../../letters/failed-record.ts';
import { entryOf } from '../envelope/create-envelope.ts';
import type { Envelope } from '../envelope/envelope.ts';
import { HORIZON_MARGIN_MILLIS } from '../../markers/marker.ts';
import type { Outcome } from '../../markers/outcome.ts';

/**
 * What the failure policy is told of an envelope that can never be applied; undefined for every other result. Pure.
 *
 * @param record the record as it was published, where it is still there.
 */
export function failedEnvelope(envelope: Envelope, result: Outcome, record?: FailedSource): FailedRecord | undefined {
  if (result.kind !== 'rejected' && result.kind !== 'beyond-horizon') return undefined;
  const known = {
    record: record ?? stagedSource(envelope),
    destination: envelope.table,
    entry: entryOf(envelope),
    // The attributes that identified it may be gone.
    identity: envelope.identity,
  };
  if (result.kind === 'rejected') {
    const { code, message } = result.status;
    const summary = `rejected because the mutation is invalid (${code})`;
    return { ...known, reason: 'rejected', summary, detail: `${summary}: ${message}` };
  }
  return { ...known, reason: 'beyond-horizon', summary: TOO_OLD, detail: TOO_OLD };
}

const TOO_OLD = `not sent, because it is older than markerHorizon less ${HORIZON_MARGIN_MILLIS / 60_000} minutes, or was frozen under another setting of it: the marker of an earlier copy may be collected, so nobody can tell whether it is applied; compare the row before you apply it by hand`;

/** Attributes are not staged: a record is known by its entry and by where it came from. */
const stagedSource = ({ source }: Envelope): FailedSource => ({
  message: { messageId: source.messageId, publishTimeMicros: source.publishTimeMicros, attributes: {} },
  index: source.recordIndex,
});
