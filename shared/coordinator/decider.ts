/** What was done, by name. */
export type Counts = Readonly<Record<string, number>>;

/** What a decision may go by beside what is read for it. */
export interface Turn<State> {
  /** As it was read; undefined before the first coordinator. */
  readonly pipeline: State | undefined;
  readonly now: number;
  /** What this tick has done already. */
  readonly done: Counts;
}

export interface Decision<State, Changes, Message> {
  /** The pipeline as it is to be, but for the lease. */
  readonly pipeline: State;
  /** Committed with it, all or nothing. */
  readonly changes: Changes;
  /** Published once the commit has happened. */
  readonly messages: readonly Message[];
  /** What the commit does. */
  readonly counts: Counts;
  /** More could be done at once: this decision was at the limit of a commit. */
  readonly hasMore: boolean;
}

/**
 * A kind of pipeline as its coordinator sees it: read → decide → commit → publish, of which the coordinator does the
 * third. A decider knows nothing of leases, of other coordinators and of conflicts: a decision whose commit did not
 * happen is forgotten, and another one is asked for, from what is read then.
 *
 * What must stay true: nothing is written but by the commit; whatever a crash between the commit and the last message
 * leaves, a later decision finds and repairs.
 */
export interface Decider<State, View, Changes, Message> {
  /** Of the pipeline. */
  readonly name: string;
  /** How far its ticks are apart: ten seconds, or its own interval where that is shorter. */
  readonly intervalMillis: number;
  /** Commits of one tick, beyond which it leaves the rest to the next one. Default: 10. */
  readonly maxRounds?: number;
  /** Everything that its ticks count, by name. */
  readonly counted: readonly string[];
  /**
   * Whether there is anything for a coordinator to do, asked before a lease is taken: where there is not, the tick is over
   * without a write. Absent: there always is.
   */
  hasWork?(now: number, signal: AbortSignal): Promise<boolean>;
  /**
   * Whether the lease is kept between two ticks. Where it is not, it is given back with the end of each, and a tick that
   * finds it held leaves the turn to whoever has it. Absent: it is kept, and one that is held ends the ticks.
   */
  keepsLease?(): boolean;
  /** Reads what the decision needs. */
  read(turn: Turn<State>, signal: AbortSignal): Promise<View>;
  /** Pure. */
  decide(turn: Turn<State>, view: View): Decision<State, Changes, Message>;
  /** The commit has happened: this is where it is remembered and told. */
  committed(turn: Turn<State>, view: View, decision: Decision<State, Changes, Message>): void;
  /** Resolves when every message is confirmed. */
  publish(messages: readonly Message[], signal: AbortSignal): Promise<void>;
  /** The invocation ends: whatever goes on beside its ticks ends too. */
  end?(): void;
}
