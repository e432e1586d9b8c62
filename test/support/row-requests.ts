import { conditionalRequest, readModifyWriteRequest } from '../../shared/model/conditional.ts';
import { cellExists, type RowFilter } from '../../shared/model/filter/filter.ts';
import type { Mutation } from '../../shared/model/mutation.ts';
import type { RowRequest } from '../../shared/model/row-request.ts';

/** Requests of which a test names only what matters to it: row `k`, column `f:q`. */

export const setQ = {
  kind: 'setCell',
  family: 'f',
  qualifier: Buffer.from('q'),
  timestampMicros: 1000n,
  value: Buffer.from('v'),
} as const satisfies Mutation;

export const addToQ = (amount: bigint, family = 'f'): Mutation => ({
  kind: 'addToCell',
  family,
  qualifier: Buffer.from('q'),
  timestampMicros: 0n,
  input: { kind: 'int64', value: amount },
});

export const hasQ = cellExists('f', Buffer.from('q'));

interface Branches {
  readonly rowKey?: string;
  readonly predicate?: RowFilter;
  readonly then?: readonly Mutation[];
  readonly otherwise?: readonly Mutation[];
}

/** Without branches: set `f:q` unless the predicate matches. */
export const conditional = ({ rowKey = 'k', predicate, then = [], otherwise = [setQ] }: Branches): RowRequest => ({
  kind: 'conditional',
  request: conditionalRequest({ rowKey: Buffer.from(rowKey), ...(predicate && { predicate }), then, otherwise }),
});

export const increment = (amount = 1n, rowKey = 'k'): RowRequest => ({
  kind: 'readModifyWrite',
  request: readModifyWriteRequest({
    rowKey: Buffer.from(rowKey),
    rules: [{ kind: 'increment', family: 'f', qualifier: Buffer.from('q'), amount }],
  }),
});
