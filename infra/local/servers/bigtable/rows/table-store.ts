import type { ChangeStreamConfig } from '../../../../../shared/proto/google/bigtable/admin/v2/table.ts';
import type { Idempotency, Mutation } from '../../../../../shared/proto/google/bigtable/v2/data.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import { applyMutations } from './apply.ts';
import type { GcRule } from './gc.ts';
import { RowIndex, latin1, type Row } from './row.ts';
import type { Family } from './schema.ts';

/** Changes of one row that become visible together. */
export interface RowChange {
  readonly rowKey: Buffer;
  readonly mutations: readonly Mutation[];
  readonly idempotency?: Idempotency | undefined;
}

/** A table: schema, tablets' boundaries, rows. `commit` is the only way that a row changes by mutations. */
export class StoredTable {
  /** `projects/p/instances/i/tables/t`. */
  readonly name: string;
  readonly rows = new RowIndex();
  /** Where tablets meet, sorted, as latin1. */
  readonly splits: readonly string[];
  families: ReadonlyMap<string, Family>;
  changeStreamConfig: ChangeStreamConfig | undefined;
  isDeletionProtected = false;
  readonly #replays = new Replays();

  constructor(name: string, families: ReadonlyMap<string, Family>, splits: readonly Buffer[]) {
    this.name = name;
    this.families = families;
    this.splits = [...new Set(splits.map(latin1))].filter((key) => key !== '').toSorted();
  }

  readonly gcRuleOf = (family: string): GcRule | undefined => this.families.get(family)?.gcRule;

  /** Applies validated mutations to one row, atomically and in order. Every row write of every RPC passes here. */
  commit({ rowKey, mutations, idempotency }: RowChange, nowMicros: bigint): void {
    const key = latin1(rowKey);
    const isReplay = idempotency !== undefined && this.#replays.seenBefore(key, idempotency.token, nowMicros);
    const row = this.rows.getOrInsert(key);
    applyMutations(row, mutations, { families: this.families, nowMicros, isReplay });
    if (row.cells.length === 0) this.rows.delete(key);
  }

  /** Deletes every row whose key starts with the prefix. */
  dropPrefix(prefix: Buffer): void {
    const start = latin1(prefix);
    const doomed: string[] = [];
    for (const { key } of this.rows.ascending(start, false)) {
      if (!key.startsWith(start)) break;
      doomed.push(key);
    }
    for (const key of doomed) this.rows.delete(key);
  }

  /** Replaces the schema; the cells of families that are no longer there are deleted. */
  changeFamilies(families: ReadonlyMap<string, Family>): void {
    const dropped = [...this.families.keys()].some((name) => !families.has(name));
    this.families = families;
    if (!dropped) return;
    const emptied: Row[] = [];
    for (const row of this.rows) {
      row.cells = row.cells.filter(({ family }) => families.has(family));
      if (row.cells.length === 0) emptied.push(row);
    }
    for (const row of emptied) this.rows.delete(row.key);
  }
}

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

/** How long the service remembers an idempotency token (`google.bigtable.v2.Idempotency`: a window of 15 minutes). */
const WINDOW_MICROS = 15n * 60n * 1_000_000n;

/** Tokens remembered at once; beyond it the oldest is forgotten early. */
const MAX_TOKENS = 1_000_000;

/** The idempotency tokens that a table has applied lately. Pure but for its own memory: `nowMicros` is an argument. */
export class Replays {
  /** Token and row → when it was applied, in that order. */
  readonly #appliedMicros = new Map<string, bigint>();

  /** Whether the token was applied to this row within the window. If not, remembers that it now is. */
  seenBefore(rowKey: string, token: Buffer, nowMicros: bigint): boolean {
    this.#forget(nowMicros);
    const identity = `${token.toString('hex')} ${rowKey}`;
    if (this.#appliedMicros.has(identity)) return true;
    this.#appliedMicros.set(identity, nowMicros);
    return false;
  }

  #forget(nowMicros: bigint): void {
    for (const [identity, appliedMicros] of this.#appliedMicros) {
      if (appliedMicros > nowMicros - WINDOW_MICROS && this.#appliedMicros.size < MAX_TOKENS) return;
      this.#appliedMicros.delete(identity);
    }
  }
}
