import type { Row } from '../../model/row.ts';

/** What a read of a range comes upon, in the order of the keys. Each moves the position past its key. */
export type ReadEvent =
  | { readonly kind: 'row'; readonly row: Row }
  /** Everything up to and including this key is done: what is not told of did not pass the filter. */
  | { readonly kind: 'scanned'; readonly key: Buffer }
  /** A row that the service will not read for its size. The read goes on after it when the next event is asked for. */
  | { readonly kind: 'oversized'; readonly key: Buffer; readonly problem: string };
