/** What the coordinator asks of a kind of pipeline that needs ticks. */
export interface CoordinatedPipeline {
  readonly name: string;
  /** How far its ticks are apart. */
  readonly slotMillis: number;
  /**
   * Takes or renews the lease, decides, and does what was decided. Rejects where a part of it failed; whatever it
   * left, the next tick repairs, of this invocation or of another.
   */
  tick(signal: AbortSignal): Promise<TickOutcome>;
  /** Gives the lease back, where it is this invocation's. */
  release(signal: AbortSignal): Promise<void>;
}

export type TickOutcome =
  /** What was done, by name, for the summary of the invocation. */
  | { readonly kind: 'ticked'; readonly counts: Readonly<Record<string, number>> }
  /** Another coordinator's turn; nothing was changed. */
  | { readonly kind: 'held'; readonly by: string; readonly expiresAt: number };
