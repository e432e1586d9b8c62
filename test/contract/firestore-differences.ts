/** What Google's emulator (Cloud SDK 528) answers instead of what the service does, by the name of the case. */
export const DIFFERENCES: Readonly<Record<string, unknown>> = {
  // It takes gRPC messages of up to 4 MiB, and the official client sends what was refused again and again.
  'a commit of 8 MiB is taken': 'RESOURCE_EXHAUSTED',
  'a commit over 10 MiB is INVALID_ARGUMENT': 'RESOURCE_EXHAUSTED',
  'ids in descending order, for which the service needs an index': 'refused',
  // It locks the whole collection that a query reads.
  'a query in a transaction does not hold up documents that it would not find': 'ABORTED',
};

/**
 * What Google's emulator answers now and then in place of what the service does. Where two transactions wait for each
 * other, a matter of milliseconds decides whose patience ends first: both may.
 */
export const SOMETIMES: Readonly<Record<string, unknown>> = {
  'of two transactions that read and write one document, one is ABORTED': ['ABORTED', 'ABORTED'],
};
