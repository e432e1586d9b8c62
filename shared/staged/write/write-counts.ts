import type { Metrics } from '../../base/metrics.ts';
import type { Outcome } from '../../markers/outcome.ts';
import { formatTableName } from '../../model/table-name.ts';
import type { Envelope } from '../envelope/envelope.ts';

/** What is counted of envelopes on their way into their rows. */
export class WriteCounts {
  readonly #metrics: Metrics;
  readonly #perDestination: boolean;

  constructor(metrics: Metrics, perDestination: boolean) {
    this.#metrics = metrics;
    this.#perDestination = perDestination;
  }

  submitted(envelope: Envelope): void {
    if (this.#perDestination) this.#countFor('destination.recordsSend', envelope);
  }

  /** @param told how many waited for the envelope; of them all but the first are told that it was there. */
  decided(envelope: Envelope, result: Outcome, told: number): void {
    const metrics = this.#metrics;
    switch (result.kind) {
      case 'applied':
      case 'deduplicated': {
        const repeats = Math.max(0, told - 1);
        metrics.count('requestsCompleted', 1 + repeats);
        if (result.kind === 'applied') metrics.count('recordsApplied');
        const deduplicated = repeats + (result.kind === 'deduplicated' ? 1 : 0);
        if (deduplicated > 0) metrics.count('requestsDeduplicated', deduplicated);
        return;
      }
      case 'rejected':
      case 'unfinished':
        if (result.status) metrics.count('errorClass.errors', 1, result.status.code);
        if (this.#perDestination) this.#countFor('destination.sendErrors', envelope);
        return;
      case 'beyond-horizon':
        metrics.count('envelopesBeyondHorizon');
        return;
      default:
        result satisfies never;
    }
  }

  #countFor(metric: 'destination.recordsSend' | 'destination.sendErrors', { table }: Envelope): void {
    this.#metrics.count(metric, 1, formatTableName(table));
  }
}
