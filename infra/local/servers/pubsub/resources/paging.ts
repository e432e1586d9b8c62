import { GrpcError } from '../../rpc/grpc.ts';

export interface Page<Item> {
  readonly items: Item[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

const MAX_PAGE_SIZE = 1000;

/** One page of resources in the order of their names. The token is the last name that was given out. Pure. */
export function pageOf<Item>(
  all: ReadonlyMap<string, Item>,
  prefix: string,
  pageSize: number,
  token: string,
): Page<Item> {
  if (pageSize < 0) throw new GrpcError('INVALID_ARGUMENT', `page_size: must not be negative, got ${pageSize}`);
  const size = pageSize === 0 ? MAX_PAGE_SIZE : Math.min(pageSize, MAX_PAGE_SIZE);
  const rest = [...all].filter(([name]) => name.startsWith(prefix) && name > token).toSorted(byName);
  const page = rest.slice(0, size);
  return {
    items: page.map(([, item]) => item),
    nextPageToken: rest.length > size ? (page.at(-1)?.[0] ?? '') : '',
  };
}

const byName = ([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number =>
  left < right ? -1 : left > right ? 1 : 0;
