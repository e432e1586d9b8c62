import { toError } from '../../base/errors.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { ResolvedRequestOptions, ResolvedStagedSink } from '../../config/resolved.ts';
import type { MarkerReply, ReadMarkers } from '../../markers/ports.ts';
import type { RowCall, SendRowCall } from '../../model/row-call.ts';
import { formatTableName } from '../../model/table-name.ts';
import { joinRequests } from './coalesce.ts';
import { EnvelopeBound } from './envelope-bound.ts';
import type { Effect } from './row-lane.ts';
import { type Verdict, verdictOf } from './verdict.ts';

export type AttemptsOptions = Pick<ResolvedRequestOptions, 'requestTimeoutMillis'> &
  Pick<ResolvedStagedSink, 'maxCoalescedEnvelopes'>;

export interface AttemptsDependencies {
  readonly send: SendRowCall;
  readonly readMarkers: ReadMarkers;
  readonly runtime: Runtime;
}

/** A request that takes this share of its time is told from a quick one. */
const SLOW_SHARE = 0.25;

/** Single requests for envelopes of one row, each sent once, with what is counted of them. Nothing is thrown. */
export class Attempts {
  readonly #options: AttemptsOptions;
  readonly #with: AttemptsDependencies;
  readonly #bound: EnvelopeBound;
  #inFlight = 0;

  constructor(options: AttemptsOptions, dependencies: AttemptsDependencies) {
    this.#options = options;
    this.#with = dependencies;
    this.#bound = new EnvelopeBound(options.maxCoalescedEnvelopes, options.requestTimeoutMillis * SLOW_SHARE);
    dependencies.runtime.metrics.observe('inFlightRequests', () => this.#inFlight);
  }

  /** Most envelopes that a request may hold now. */
  maxEnvelopes(): number {
    return this.#bound.at(this.#with.runtime.clock.now());
  }

  /** Applies a group where none of its markers is there. */
  async write(group: readonly [Effect, ...Effect[]]): Promise<Verdict> {
    const { send, runtime } = this.#with;
    const { clock, metrics } = runtime;
    const { table, appProfileId } = group[0].envelope;
    const call: RowCall = {
      method: 'CheckAndMutateRow',
      table,
      appProfileId,
      request: joinRequests(group.map(({ envelope }) => envelope)),
      timeoutMillis: this.#options.requestTimeoutMillis,
      signals: [],
    };
    if (group.length > 1) metrics.count('coalescedWrites', group.length);
    const startedAt = clock.now();
    this.#inFlight += 1;
    try {
      return verdictOf(await send(call), group.length, table);
    } catch (error) {
      const message = `CheckAndMutateRow on ${formatTableName(table)} could not be sent: ${toError(error).message}`;
      return { kind: 'unfinished', reason: 'client', message };
    } finally {
      this.#ended(group.length, startedAt);
    }
  }

  /** Asks which markers of a group are there. */
  async look(group: readonly [Effect, ...Effect[]]): Promise<MarkerReply> {
    const { readMarkers, runtime } = this.#with;
    const { table, appProfileId, rowKey, markerFamily: family } = group[0].envelope;
    const identities = group.map(({ envelope }) => envelope.identity);
    const timeoutMillis = this.#options.requestTimeoutMillis;
    runtime.metrics.count('markerReads');
    const startedAt = runtime.clock.now();
    this.#inFlight += 1;
    try {
      return await readMarkers({ table, appProfileId, rowKey, family, identities, timeoutMillis });
    } catch (error) {
      return { kind: 'failed', status: { code: 'UNAVAILABLE', message: toError(error).message } };
    } finally {
      this.#ended(group.length, startedAt);
    }
  }

  #ended(envelopes: number, startedAt: number): void {
    const { clock, metrics } = this.#with.runtime;
    const now = clock.now();
    this.#inFlight -= 1;
    metrics.record('rowRequestLatency', now - startedAt);
    this.#bound.ended(envelopes, now - startedAt, now);
  }
}
