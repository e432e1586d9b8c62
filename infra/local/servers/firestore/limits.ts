/** The service's limits (firebase.google.com/docs/firestore/quotas#limits). */
export const LIMITS = {
  /** A document id and a collection id, in UTF-8. */
  idBytes: 1500,
  documentBytes: 1_048_576,
  /** One field's value: 1 MiB less 89 bytes. */
  valueBytes: 1_048_487,
  /** A request, unless the server is told another. */
  requestBytes: 10 * 1024 * 1024,
  /** Maps and arrays in each other. */
  depth: 20,
} as const;
