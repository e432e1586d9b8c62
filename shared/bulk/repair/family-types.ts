import { describeError } from '../../base/logging.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { ResolvedTableCreateOptions } from '../../config/resolved.ts';
import { formatTableName, type TableName } from '../../model/table-name.ts';
import type { TableAdmin } from '../ports.ts';
import { inAdminTime, recoverAt, type Recovery } from './admin-time.ts';
import { declaresAggregate } from './ensure-table.ts';
import { FamilyTypeError } from './table-errors.ts';

export interface FamilyTypesDependencies {
  readonly admin: Pick<TableAdmin, 'checkTypes'>;
  readonly runtime: Runtime;
}

/** A look that found nothing wrong answers for this long whether a refused record is itself to blame. */
const CONFIRMED_MILLIS = 60_000;

/** Records may name any number of tables. What is forgotten is asked again. */
const MAX_TABLES = 1000;

interface Kept {
  looking?: Promise<void>;
  /** The last look failed, and answers for all records until then: those of one message fail together. */
  lookAgainAt?: number;
  /** When a look found nothing wrong. */
  soundAt?: number;
}

/**
 * Whether the families of a table are of the types that the pipeline declares, in its mapping or in `tableCreateOptions`.
 * The service refuses every record of a family of another type with INVALID_ARGUMENT, as it refuses a bad record; so it is
 * the table that is asked about, and the records are redelivered until somebody fixes it. One look at a table at a time.
 */
export class FamilyTypes {
  readonly #declared: ResolvedTableCreateOptions;
  readonly #recovery: Recovery;
  readonly #admin: FamilyTypesDependencies['admin'];
  readonly #runtime: Runtime;
  readonly #looksFirst: boolean;
  /** Insertion order is recency. */
  readonly #tables = new Map<string, Kept>();

  constructor(declared: ResolvedTableCreateOptions, recovery: Recovery, { admin, runtime }: FamilyTypesDependencies) {
    this.#declared = declared;
    this.#recovery = recovery;
    this.#admin = admin;
    this.#runtime = runtime;
    this.#looksFirst = declaresAggregate(declared);
  }

  /**
   * The look that comes before the first write to a table; undefined when there is none to wait for: it was made, or no
   * aggregate is declared. One that fails is made again for records that come after the first backoff.
   */
  check(table: TableName): Promise<void> | undefined {
    if (!this.#looksFirst) return undefined;
    const kept = this.#keptOf(table);
    return kept.soundAt === undefined ? this.#lookOf(table, kept) : undefined;
  }

  /** The look that comes before a refused record is taken for a bad one; undefined where one of the last minute answers. */
  confirm(table: TableName): Promise<void> | undefined {
    const kept = this.#keptOf(table);
    const isSound = kept.soundAt !== undefined && this.#runtime.clock.now() < kept.soundAt + CONFIRMED_MILLIS;
    return isSound ? undefined : this.#lookOf(table, kept);
  }

  #lookOf(table: TableName, kept: Kept): Promise<void> {
    const isOver = kept.lookAgainAt !== undefined && this.#runtime.clock.now() >= kept.lookAgainAt;
    if (!kept.looking || isOver) kept.looking = this.#look(table, kept);
    return kept.looking;
  }

  async #look(table: TableName, kept: Kept): Promise<void> {
    delete kept.lookAgainAt;
    try {
      await inAdminTime(this.#runtime, (signal) => this.#admin.checkTypes(table, this.#declared, signal));
      kept.soundAt = this.#runtime.clock.now();
      delete kept.looking;
    } catch (error) {
      // What is of another type now takes no further write.
      if (error instanceof FamilyTypeError) delete kept.soundAt;
      kept.lookAgainAt = recoverAt(this.#recovery, 1, this.#runtime);
      this.#runtime.logger.log('WARNING', 'the column families of a table are not, or not known to be, as declared', {
        table: formatTableName(table),
        error: describeError(error),
      });
      throw error;
    }
  }

  #keptOf(table: TableName): Kept {
    const key = formatTableName(table);
    const kept = this.#tables.get(key) ?? {};
    this.#tables.delete(key);
    this.#tables.set(key, kept);
    if (this.#tables.size > MAX_TABLES) {
      for (const [oldest, { looking, lookAgainAt }] of this.#tables) {
        if (looking && lookAgainAt === undefined) continue;
        this.#tables.delete(oldest);
        break;
      }
    }
    return kept;
  }
}
