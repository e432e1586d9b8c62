/** A claim that ends by itself. Times are milliseconds since the epoch. */
export interface Lease {
  /** Empty: nobody's. */
  readonly owner: string;
  /** Grows by one with every new owner; a write that names an older one is refused. */
  readonly epoch: number;
  readonly expiresAt: number;
}
