/** What a serializer or a mapping may know beside the record. */
export interface SerializerContext {
  /**
   * The message's publish time floored to milliseconds, in microseconds: the cell timestamp to take when the record
   * carries none. It is the same at every redelivery, so a replay overwrites instead of adding a version.
   */
  readonly publishTimeMicros: bigint;
}
