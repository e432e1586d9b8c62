import { abortable } from '../../base/abort.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import { toError } from '../../base/errors.ts';

export type Answer<Value> =
  | { readonly kind: 'told'; readonly value: Value }
  | { readonly kind: 'failed'; readonly error: Error }
  /** Not yet: another look takes it. */
  | { readonly kind: 'asking' };

/** A look waits so long for the service; then the next one takes the answer. */
const PATIENCE_MILLIS = 3_000;

/**
 * A question that is asked beside the ticks, because its answer may take longer than one of them: one at a time, and each
 * answer is told once. For as long as an invocation lasts.
 */
export class Asking<Value> {
  readonly #ask: (signal: AbortSignal) => Promise<Value>;
  readonly #clock: Clock;
  readonly #ended = new AbortController();
  #answer: Promise<Answer<Value>> | undefined;

  constructor(ask: (signal: AbortSignal) => Promise<Value>, clock: Clock) {
    this.#ask = ask;
    this.#clock = clock;
  }

  async read(signal: AbortSignal): Promise<Answer<Value>> {
    const answer = (this.#answer ??= this.#ask(this.#ended.signal).then(
      (value) => ({ kind: 'told', value }) as const,
      (error: unknown) => ({ kind: 'failed', error: toError(error) }) as const,
    ));
    const patience = new AbortController();
    const asking = { kind: 'asking' } as const;
    const waited = sleep(this.#clock, PATIENCE_MILLIS, patience.signal).then(
      () => asking,
      () => asking,
    );
    try {
      const first: Answer<Value> = await abortable(Promise.race([answer, waited]), signal);
      if (first.kind !== 'asking') this.#answer = undefined;
      return first;
    } finally {
      patience.abort();
    }
  }

  /** Nothing is asked any longer. */
  end(): void {
    this.#ended.abort(new Error('the invocation of the coordinator ended'));
  }
}
