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
  /** Everything that its ticks count, by name. */
  readonly counted: readonly string[];
  /** Reads what the decision needs. */
  read(turn: Turn<State>, signal: AbortSignal): Promise<View>;
  /** Pure. */
  decide(turn: Turn<State>, view: View): Decision<State, Changes, Message>;
  /** The commit has happened: this is where it is remembered and told. */
  committed(turn: Turn<State>, view: View, decision: Decision<State, Changes, Message>): void;
  /** Resolves when every message is confirmed. */
  publish(messages: readonly Message[], signal: AbortSignal): Promise<void>;
}
