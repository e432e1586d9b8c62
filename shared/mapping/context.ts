/** What a mapping knows besides the record. */
export interface SerializerContext {
  /** When the topic took the message, in microseconds; the same on every redelivery. */
  readonly publishTimeMicros: bigint;
}
