import type { Runtime } from '../../base/runtime.ts';
import type { TableName } from '../../model/table-name.ts';
import type { EntryAnswer } from '../answer.ts';
import type { MutateRows } from '../ports.ts';
import type { StallWatch } from '../waiting/stall-watch.ts';
import type { WaitingEntry } from '../waiting/waiting-entry.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { mergeEntries } from './write-queue.ts';

export interface RequestsDependencies {
  readonly mutateRows: MutateRows;
  readonly runtime: Runtime;
  readonly rates: RateLimiter;
  readonly stall: StallWatch;
  /** One attempt's deadline. */
  readonly requestTimeoutMillis: number;
}

/** The `MutateRows` requests of an instance: each is counted, and tells what it teaches of the service's rate and silence. */
export class Requests {
  readonly #with: RequestsDependencies;

  constructor(dependencies: RequestsDependencies) {
    this.#with = dependencies;
  }

  /**
   * One request with one wire entry for each group of parts; one answer each, by index. Rejects if no request could be
   * made at all.
   *
   * @param purpose only names the metric.
   */
  async send(
    table: TableName,
    groups: readonly (readonly WaitingEntry[])[],
    purpose: 'write' | 'isolate',
  ): Promise<readonly EntryAnswer[]> {
    const { mutateRows, runtime, rates, stall, requestTimeoutMillis } = this.#with;
    const { clock, metrics } = runtime;
    const entries = groups.map((parts) => {
      const [only] = parts;
      if (only && parts.length === 1) return only;
      const entry = mergeEntries(parts);
      return { entry, bytes: mutateRows.sizeOf(entry) };
    });
    metrics.count('requestsSent');
    if (purpose === 'isolate') metrics.count('requestsForIsolation');
    metrics.record('batchEntries', entries.length);
    rates.sent(table, entries.length);
    const startedAt = clock.now();
    const { answers, isHeard, rateLimit } = await mutateRows.send({
      table,
      entries,
      timeoutMillis: requestTimeoutMillis,
    });
    metrics.record('requestLatency', clock.now() - startedAt);
    if (isHeard) stall.heard();
    rates.answered(table, rateLimit, answers.some(isExhausted));
    return answers;
  }
}

const isExhausted = (answer: EntryAnswer): boolean =>
  answer.kind !== 'applied' && answer.status?.code === 'RESOURCE_EXHAUSTED';
