/** How long the service remembers an idempotency token (`google.bigtable.v2.Idempotency`: a window of 15 minutes). */
const WINDOW_MICROS = 15n * 60n * 1_000_000n;

/** Tokens remembered at once; beyond it the oldest is forgotten early. */
const MAX_TOKENS = 1_000_000;

/** The idempotency tokens that a table has applied lately. Pure but for its own memory: `nowMicros` is an argument. */
export class Replays {
  /** Token and row → when it was applied, in that order. */
  readonly #appliedMicros = new Map<string, bigint>();

  /** Whether the token was applied to this row within the window. If not, remembers that it now is. */
  seenBefore(rowKey: string, token: Buffer, nowMicros: bigint): boolean {
    this.#forget(nowMicros);
    const identity = `${token.toString('hex')} ${rowKey}`;
    if (this.#appliedMicros.has(identity)) return true;
    this.#appliedMicros.set(identity, nowMicros);
    return false;
  }

  #forget(nowMicros: bigint): void {
    for (const [identity, appliedMicros] of this.#appliedMicros) {
      if (appliedMicros > nowMicros - WINDOW_MICROS && this.#appliedMicros.size < MAX_TOKENS) return;
      this.#appliedMicros.delete(identity);
    }
  }
}
