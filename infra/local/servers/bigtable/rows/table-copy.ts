import type { Idempotency, Mutation } from '../../../../../shared/proto/google/bigtable/v2/data.ts';
import { applyMutations, isAddition, type ApplyContext } from './apply.ts';
import { applyAndTell, type ChangeFeed, collectRow, familyDeletes, type FedChange } from './change-feed.ts';
import type { GcRule } from './gc.ts';
import { RowIndex, latin1, type Row } from './row.ts';
import type { Family } from './schema.ts';

/** Changes of one row that become visible together. */
export interface RowChange {
  readonly rowKey: Buffer;
  readonly mutations: readonly Mutation[];
  readonly idempotency?: Idempotency | undefined;
}

/** A change of a row that one cluster has applied and the others have not. */
export interface ReplicatedChange {
  /** Where it was made. */
  readonly origin: TableCopy;
  /** The other copies of the same table. */
  readonly others: readonly TableCopy[];
  /** As latin1. */
  readonly rowKey: string;
  readonly mutations: readonly Mutation[];
  /** When it was made: the server's time of its cells. */
  readonly madeMicros: bigint;
  /** The change as change streams tell it; absent where the table has none, or was told already. */
  readonly told?: FedChange | undefined;
}

/** What all copies of a table share. */
export interface TableSchema {
  /** `projects/p/instances/i/tables/t`. */
  readonly name: string;
  /** Where tablets meet, sorted, as latin1. */
  readonly splits: readonly string[];
  /** How often those were changed. */
  readonly tabletMoves: number;
  readonly families: ReadonlyMap<string, Family>;
}

/**
 * The rows of a table in one cluster. `commit` is the only way that a row changes by mutations, and `receive` by those of
 * another cluster.
 */
export class TableCopy {
  readonly rows = new RowIndex();
  /** Told of every change from now on; absent where the table has no change stream. */
  feed: ChangeFeed | undefined;
  readonly #schema: TableSchema;
  /** Tells the other clusters; absent where there are none. */
  readonly #replicate: ((change: Omit<ReplicatedChange, 'others'>) => void) | undefined;
  readonly #replays = new Replays();

  constructor(schema: TableSchema, replicate?: (change: Omit<ReplicatedChange, 'others'>) => void) {
    this.#schema = schema;
    this.#replicate = replicate;
  }

  get name(): string {
    return this.#schema.name;
  }

  get splits(): readonly string[] {
    return this.#schema.splits;
  }

  get tabletMoves(): number {
    return this.#schema.tabletMoves;
  }

  get families(): ReadonlyMap<string, Family> {
    return this.#schema.families;
  }

  readonly gcRuleOf = (family: string): GcRule | undefined => this.#schema.families.get(family)?.gcRule;

  /** Applies validated mutations to one row, atomically and in order. Every row write of every RPC passes here. */
  commit({ rowKey, mutations, idempotency }: RowChange, nowMicros: bigint): void {
    const key = latin1(rowKey);
    const isReplay = idempotency !== undefined && this.#replays.seenBefore(key, idempotency.token, nowMicros);
    const told = this.#apply(key, mutations, this.#contextOf(nowMicros, isReplay));
    this.#replicate?.({
      origin: this,
      rowKey: key,
      mutations: isReplay ? mutations.filter((mutation) => !isAddition(mutation)) : mutations,
      madeMicros: nowMicros,
      told,
    });
  }

  /** Applies what another cluster has committed. */
  receive({ rowKey, mutations, madeMicros, told }: Omit<ReplicatedChange, 'origin' | 'others'>): void {
    const row = this.rows.getOrInsert(rowKey);
    applyMutations(row, mutations, this.#contextOf(madeMicros, false));
    if (row.cells.length === 0) this.rows.delete(rowKey);
    if (told) this.feed?.arrived(told);
  }

  #contextOf(nowMicros: bigint, isReplay: boolean): ApplyContext {
    return { families: this.families, nowMicros, isReplay, sweeps: this.feed === undefined };
  }

  /** Takes every condemned cell out, and tells of it. */
  collect(nowMicros: bigint): void {
    const emptied: string[] = [];
    for (const row of this.rows) {
      const mutations = collectRow(row, this.gcRuleOf, nowMicros);
      if (mutations.length > 0) this.feed?.collected(row.key, mutations);
      if (row.cells.length === 0) emptied.push(row.key);
    }
    for (const key of emptied) this.rows.delete(key);
  }

  /** Deletes every row whose key starts with the prefix. Returns what change streams tell of it, where there is one. */
  dropPrefix(prefix: Buffer): FedChange[] {
    const { feed } = this;
    return this.#drop(prefix)
      .filter(({ cells }) => feed && cells.length > 0)
      .flatMap(({ key, cells }) => feed?.committed(key, familyDeletes(cells)) ?? []);
  }

  /** The same where another cluster has told of it. */
  receiveDrop(prefix: Buffer, told: readonly FedChange[]): void {
    this.#drop(prefix);
    for (const change of told) this.feed?.arrived(change);
  }

  #drop(prefix: Buffer): readonly Row[] {
    const start = latin1(prefix);
    const doomed: Row[] = [];
    if (start !== '' || this.feed) {
      for (const row of this.rows.ascending(start, false)) {
        if (!row.key.startsWith(start)) break;
        doomed.push(row);
      }
    }
    if (start === '') this.rows.clear();
    else for (const { key } of doomed) this.rows.delete(key);
    return doomed;
  }

  /** Deletes the cells of every other family. */
  keepFamilies(families: ReadonlyMap<string, Family>): void {
    const emptied: Row[] = [];
    for (const row of this.rows) {
      row.cells = row.cells.filter(({ family }) => families.has(family));
      if (row.cells.length === 0) emptied.push(row);
    }
    for (const row of emptied) this.rows.delete(row.key);
  }

  #apply(key: string, mutations: readonly Mutation[], context: ApplyContext): FedChange | undefined {
    const row = this.rows.getOrInsert(key);
    const { feed } = this;
    let told = NOTHING_TOLD;
    if (feed) told = applyAndTell(row, mutations, context);
    else applyMutations(row, mutations, context);
    if (row.cells.length === 0) this.rows.delete(key);
    return told.length > 0 ? feed?.committed(key, told) : undefined;
  }
}

const NOTHING_TOLD: readonly Mutation[] = [];

/** How long the service remembers an idempotency token (`google.bigtable.v2.Idempotency`: a window of 15 minutes). */
const WINDOW_MICROS = 15n * 60n * 1_000_000n;

/** Tokens remembered at once; beyond it the oldest is forgotten early. */
const MAX_TOKENS = 1_000_000;

/** The idempotency tokens that a copy has applied lately. Pure but for its own memory: `nowMicros` is an argument. */
class Replays {
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
