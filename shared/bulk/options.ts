/** What the batcher is told. The values come from the pipeline's `writerOptions`; defaults and bounds are declared there. */
export interface BatcherOptions {
  /** Most entries in one request. */
  readonly batchElementCountThreshold: number;
  /** A request is full once its entries reach this size. */
  readonly batchRequestByteThreshold: number;
  /** Entries admitted and not settled, summed over tables. Tested as "below", so that one more always fits an empty sink. */
  readonly maxInFlightEntries: number;
  /** Their serialized size; tested the same way, so that an entry above the cap is admitted alone. */
  readonly maxInFlightBytes: number;
  /** Requests in flight per table; what waits meanwhile becomes the next request. */
  readonly maxConcurrentBatches: number;
  /** How long an entry waits for company although a request could leave. 0: never. */
  readonly lingerMillis: number;
  /** One attempt's deadline. */
  readonly requestTimeoutMillis: number;
  readonly retryInitialBackoffMillis: number;
  readonly retryMaxBackoffMillis: number;
}
