import type { ConditionalRequest, ReadModifyWriteRequest } from './conditional.ts';
import { familiesOf } from './mutation.ts';

/** A request on one row that is answered, by the RPC that carries it. Its table is decided apart from it. */
export type RowRequest =
  | { readonly kind: 'conditional'; readonly request: ConditionalRequest }
  | { readonly kind: 'readModifyWrite'; readonly request: ReadModifyWriteRequest };

/** The families that a request writes, each once or as often as its rules name it. */
export const familiesOfRequest = ({ kind, request }: RowRequest): string[] =>
  kind === 'conditional'
    ? familiesOf({ rowKey: request.rowKey, mutations: [...request.then, ...request.otherwise] })
    : request.rules.map(({ family }) => family);

/** A row request as it is written down, with what is said beside it. */
export interface RowRequestDocument {
  readonly request: RowRequest;
  /** As a record names one (`parseNamedTable`); absent leaves it to the pipeline. */
  readonly table?: string;
  /** Comes back in the result; absent takes the id of what brought the request. */
  readonly correlationId?: string;
}

/** Longest correlation id in bytes. Ours: it travels in attributes, whose values Pub/Sub bounds at 1,024. */
export const MAX_CORRELATION_ID_BYTES = 256;
