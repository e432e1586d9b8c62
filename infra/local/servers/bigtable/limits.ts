/** What the service refuses for its size. Sources: the `google.bigtable.v2` protos and the service's quota page. */
export interface Limits {
  readonly rowKeyBytes: number;
  readonly qualifierBytes: number;
  readonly valueBytes: number;
  /** Keys, qualifiers and values of one entry together: what could never fit into a row. */
  readonly entryBytes: number;
  /** Mutations of one entry, and also of all entries of one request. */
  readonly mutations: number;
  readonly filterBytes: number;
  /** Of a whole `ReadRows` request. */
  readonly readRequestBytes: number;
  /** What a read may give of one row, after its filter. */
  readonly readRowBytes: number;
  /** Shortest idempotency token. */
  readonly tokenBytes: number;
}

const MIB = 1024 * 1024;

export const SERVICE_LIMITS: Limits = {
  rowKeyBytes: 4096,
  qualifierBytes: 16 * 1024,
  valueBytes: 100 * MIB,
  entryBytes: 256 * MIB,
  mutations: 100_000,
  filterBytes: 20_480,
  readRequestBytes: 512 * 1024,
  readRowBytes: 256 * MIB,
  tokenBytes: 8,
};
