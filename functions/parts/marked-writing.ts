import type { ResolvedStagedSink } from '../../shared/config/resolved.ts';
import { ClientPool } from '../../shared/google/bigtable/clients.ts';
import { createReadMarkers } from '../../shared/google/bigtable/read-markers.ts';
import { createRowCalls } from '../../shared/google/bigtable/row-calls.ts';
import type { TargetCheck } from '../../shared/markers/target-check.ts';
import { MarkedWrites } from '../../shared/staged/write/marked-writes.ts';
import type { EnvelopeWriting } from '../../shared/staged/write/write-envelopes.ts';
import type { Instance } from './instance.ts';
import { openTargetCheck } from './target-check.ts';

/** What applies the envelopes of an instance, with the clients it sends by. */
export interface OpenedWriting extends EnvelopeWriting {
  readonly targets: TargetCheck;
  /** Closes clients that have long been idle. Cheap. */
  readonly sweep: () => void;
  readonly close: () => void;
}

/** Connects at the first envelope; the admin adapter is loaded at the first check of a target. */
export function openMarkedWriting(instance: Instance<ResolvedStagedSink>): OpenedWriting {
  const { pipeline, access, runtime } = instance;
  const { requestOptions, maxCoalescedEnvelopes, marker } = pipeline;
  const clients = new ClientPool({ ...access, ...requestOptions }, runtime);
  const horizon = marker.horizonMillis === undefined ? {} : { markerHorizonMillis: marker.horizonMillis };
  const targets = openTargetCheck(instance, marker.horizonMillis);
  const writes = new MarkedWrites(
    { ...requestOptions, maxCoalescedEnvelopes, ...horizon },
    { send: createRowCalls(clients), readMarkers: createReadMarkers(clients), runtime },
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
