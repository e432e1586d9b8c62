import type { ChangeStreamConfig } from '../../../../../shared/proto/google/bigtable/admin/v2/table.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import type { Replication } from './replication.ts';
import { latin1 } from './row.ts';
import type { Family } from './schema.ts';
import { TableCopy, type TableSchema } from './table-copy.ts';

/** What the tables of an instance lie in. */
export interface Clusters {
  readonly ids: readonly [string, ...string[]];
  readonly replication: Replication;
}

/** A table: its schema, the tablets' boundaries, and a copy of its rows in each cluster. */
export class StoredTable implements TableSchema {
  readonly name: string;
  splits: readonly string[];
  /** How often its tablets were moved. */
  tabletMoves = 0;
  families: ReadonlyMap<string, Family>;
  changeStreamConfig: ChangeStreamConfig | undefined;
  isDeletionProtected = false;
  readonly #copies: ReadonlyMap<string, TableCopy>;
  readonly #replication: Replication;

  constructor(
    name: string,
    families: ReadonlyMap<string, Family>,
    splits: readonly Buffer[],
    { ids, replication }: Clusters,
  ) {
    this.name = name;
    this.families = families;
    this.splits = boundariesOf(splits);
    this.#replication = replication;
    const copies = new Map<string, TableCopy>();
    for (const id of ids) {
      const copy: TableCopy =
        ids.length === 1
          ? new TableCopy(this)
          : new TableCopy(this, (change) => {
              replication.send({ ...change, others: [...copies.values()].filter((each) => each !== copy) });
            });
      copies.set(id, copy);
    }
    this.#copies = copies;
  }

  /** The copy of a cluster, which must be one of the instance's. */
  in(cluster: string): TableCopy {
    const copy = this.#copies.get(cluster);
    if (!copy) throw new GrpcError('NOT_FOUND', `Cluster not found: ${cluster}`);
    return copy;
  }

  /** Its copies, by cluster. */
  get copies(): ReadonlyMap<string, TableCopy> {
    return this.#copies;
  }

  /** Ids of the clusters that it lies in. */
  get clusters(): readonly string[] {
    return [...this.#copies.keys()];
  }

  /** Deletes every row whose key starts with the prefix, in all clusters: an empty one is that of every row. */
  dropPrefix(prefix: Buffer): void {
    this.#replication.settle();
    // One cluster makes the change, and the others are told that it did.
    const [first, ...others] = this.#copies.values();
    const told = first?.dropPrefix(prefix) ?? [];
    for (const copy of others) copy.receiveDrop(prefix, told);
  }

  /** From now on tablets meet at these keys; scans that are open break at their next row. */
  moveTablets(splits: readonly Buffer[]): void {
    this.splits = boundariesOf(splits);
    this.tabletMoves += 1;
  }

  /** Replaces the schema; the cells of families that are no longer there are deleted. */
  changeFamilies(families: ReadonlyMap<string, Family>): void {
    const dropped = [...this.families.keys()].some((name) => !families.has(name));
    // What is on its way was written when the family was there.
    if (dropped) this.#replication.settle();
    this.families = families;
    if (dropped) for (const copy of this.#copies.values()) copy.keepFamilies(families);
  }
}

const boundariesOf = (splits: readonly Buffer[]): readonly string[] =>
  [...new Set(splits.map(latin1))].filter((key) => key !== '').toSorted();

/** All tables of all instances by name. An instance exists as soon as something is asked of it. */
export class TableStore {
  readonly #tables = new Map<string, StoredTable>();

  /** The table, or NOT_FOUND in the words that the service has for a missing table. */
  require(name: string): StoredTable {
    if (name === '')
      throw new GrpcError('INVALID_ARGUMENT', 'table_name is not set; views of tables are not served here');
    const table = this.#tables.get(name);
    if (!table) throw new GrpcError('NOT_FOUND', `Table not found: ${name}`);
    return table;
  }

  add(table: StoredTable): void {
    if (this.#tables.has(table.name)) throw new GrpcError('ALREADY_EXISTS', `Table already exists: ${table.name}`);
    this.#tables.set(table.name, table);
  }

  delete(name: string): void {
    this.#tables.delete(name);
  }

  /** The tables of an instance (`projects/p/instances/i`), or of all, by name. */
  list(instance?: string): StoredTable[] {
    return [...this.#tables.values()]
      .filter(({ name }) => instance === undefined || name.startsWith(`${instance}/tables/`))
      .toSorted((left, right) => (left.name < right.name ? -1 : 1));
  }
}
