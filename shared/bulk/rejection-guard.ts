import { RedeliverError } from '../base/errors.ts';
import type { Runtime } from '../base/runtime.ts';
import type { Status } from '../model/status.ts';
import { formatTableName, type TableName } from '../model/table-name.ts';
import {
  admitMessage,
  afterApplied,
  afterProbe,
  afterRejected,
  NO_REJECTIONS,
  type RejectionLimit,
  type RejectionState,
} from './rejections.ts';

/** The present state of `maxConsecutiveRejections` in this instance. The rules are in `rejections.ts`. */
export class RejectionGuard {
  readonly #limit: RejectionLimit;
  readonly #runtime: Runtime;
  #state: RejectionState = NO_REJECTIONS;

  constructor(limit: RejectionLimit, runtime: Runtime) {
    this.#limit = limit;
    this.#runtime = runtime;
  }

  get isTripped(): boolean {
    return this.#state.kind === 'tripped';
  }

  /** Asked once per message, before anything of it is done. A probe must be ended with {@link endProbe}. */
  admit(): 'freely' | 'as-probe' | 'no' {
    const { state, admitted } = admitMessage(this.#state, this.#runtime.clock.now());
    this.#state = state;
    return admitted;
  }

  endProbe(): void {
    this.#state = afterProbe(this.#state);
  }

  applied(): void {
    if (this.isTripped) this.#runtime.logger.log('INFO', 'an entry was applied: the rejection limit is lifted');
    this.#state = afterApplied();
  }

  rejected(table: TableName, { code }: Status): void {
    const before = this.#state;
    const after = afterRejected(before, this.#limit, this.#runtime.clock.now());
    this.#state = after;
    if (before.kind === 'tripped' || after.kind !== 'tripped') return;
    this.#runtime.metrics.count('rejectionLimitTrips');
    this.#runtime.logger.log(
      'ERROR',
      `${this.#limit.maxConsecutiveRejections} entries in a row were rejected and nothing was applied; the last was for ${formatTableName(table)} (${code}). This instance stops acknowledging for ${this.#limit.cooldownMillis} ms and then tries one message at a time. Fix the stream, or raise maxConsecutiveRejections (-1: no limit)`,
    );
  }

  refusal(): RedeliverError {
    return new RedeliverError(
      'rejection-limit',
      `maxConsecutiveRejections of ${this.#limit.maxConsecutiveRejections} was reached and nothing was applied since; the message is redelivered`,
    );
  }
}
