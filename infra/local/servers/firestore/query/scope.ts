import { GrpcError } from '../../rpc/grpc.ts';
import type { StructuredQuery_CollectionSelector as Selector } from '../../../../../shared/proto/google/firestore/v1/query.ts';
import { lastId, requireParent } from '../names.ts';

/** Which collections a query reads: whether it reads one of this full name. */
export interface Scope {
  /** The only collection that can be read, where it is only one. */
  readonly collection?: string;
  includes(collection: string): boolean;
}

/** The collections below a parent that a query names: one, or all of an id, or all. @throws INVALID_ARGUMENT */
export function scopeOf(parent: string, from: readonly Selector[]): Scope {
  requireParent(parent);
  const [selector, ...others] = from;
  if (others.length > 0) throw new GrpcError('INVALID_ARGUMENT', 'a query must be from one collection');
  const { collectionId, allDescendants } = selector ?? { collectionId: '', allDescendants: true };
  if (!allDescendants && collectionId !== '') {
    const collection = `${parent}/${collectionId}`;
    return { collection, includes: (name) => name === collection };
  }
  return {
    includes(name) {
      const isInside = name.startsWith(`${parent}/`);
      if (!allDescendants) return isInside && !name.slice(parent.length + 1).includes('/');
      return isInside && (collectionId === '' || lastId(name) === collectionId);
    },
  };
}
