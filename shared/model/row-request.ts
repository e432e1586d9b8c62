import type { ConditionalRequest, ReadModifyWriteRequest } from './conditional.ts';

/** A request on one row that is answered, by the RPC that carries it. Its table is decided apart from it. */
export type RowRequest =
  | { readonly kind: 'conditional'; readonly request: ConditionalRequest }
  | { readonly kind: 'readModifyWrite'; readonly request: ReadModifyWriteRequest };
