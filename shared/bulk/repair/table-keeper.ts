import { sleep } from '../../base/clock.ts';
import { toError } from '../../base/errors.ts';
import { describeError } from '../../base/logging.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { ResolvedTableCreateOptions, ResolvedWriterOptions } from '../../config/resolved.ts';
import { formatTableName, type TableName } from '../../model/table-name.ts';
import type { TableAdmin } from '../ports.ts';
import { inAdminTime, recoverAt, type Recovery } from './admin-time.ts';
import { FamilyTypeError } from './table-errors.ts';

/**
 * What an instance last learned of a table that it repairs. An object is one lesson: a later one is another object,
 * which is how a write tells whether anything was done since it was sent. Times are milliseconds of the clock.
 */
export type TableState =
  /** It exists with its declared families; these are all that it had then. */
  | { readonly kind: 'ensured'; readonly families: ReadonlySet<string>; readonly standsUntil: number }
  /** It could not be ensured; `failures` in a row. Nothing is asked again before `standsUntil`. */
  | { readonly kind: 'failed'; readonly message: string; readonly failures: number; readonly standsUntil: number }
  /** A family is of another type than declared: nothing that we may do would help. */
  | { readonly kind: 'mistyped'; readonly message: string; readonly standsUntil: number };

export type TableKeeperOptions = Recovery &
  Pick<ResolvedWriterOptions, 'recoveryMaxAttempts'> & { readonly tableCreateOptions: ResolvedTableCreateOptions };

export interface TableKeeperDependencies {
  readonly admin: Pick<TableAdmin, 'ensure'>;
  readonly runtime: Runtime;
}

/** A table that was ensured is not ensured again for this long: a record that misses a family has none to hope for. */
const ENSURED_MILLIS = 10_000;

/** Records may name any number of tables. What is forgotten is asked again. */
const MAX_TABLES = 1000;

interface Kept {
  state?: TableState;
  ensuring?: Promise<TableState>;
}

/**
 * What one instance of a create-if-needed pipeline does about its tables, and what it remembers of them: at most one
 * ensure of a table at a time, and none again while the last answer stands.
 */
export class TableKeeper {
  /** Attempts per write: an ensure and what was sent after it are one. */
  readonly maxAttempts: number;
  readonly #options: TableKeeperOptions;
  readonly #admin: TableKeeperDependencies['admin'];
  readonly #runtime: Runtime;
  /** Insertion order is recency. */
  readonly #tables = new Map<string, Kept>();

  constructor(options: TableKeeperOptions, { admin, runtime }: TableKeeperDependencies) {
    this.#options = options;
    this.#admin = admin;
    this.#runtime = runtime;
    this.maxAttempts = options.recoveryMaxAttempts;
  }

  /** What was last learned of the table. */
  known(table: TableName): TableState | undefined {
    return this.#tables.get(formatTableName(table))?.state;
  }

  /**
   * Something newer than `before`: what somebody learned meanwhile, or what an ensure teaches now; or `before` itself,
   * as long as it stands. Never rejects.
   */
  async ensure(table: TableName, before: TableState | undefined): Promise<TableState> {
    const kept = this.#keptOf(table);
    if (kept.ensuring) return kept.ensuring;
    const { state } = kept;
    const stands = state !== undefined && this.#runtime.clock.now() < state.standsUntil;
    const isNews = state !== before && state?.kind === 'ensured';
    if (state && (stands || isNews)) return state;
    // Learned before anyone who waits for it goes on.
    kept.ensuring = this.#ensure(table, state).then((learned) => {
      delete kept.ensuring;
      return (kept.state = learned);
    });
    return kept.ensuring;
  }

  /** When to try again after failed attempt number `attempt`. */
  retryAt(attempt: number): number {
    return recoverAt(this.#options, attempt, this.#runtime);
  }

  /**
   * Resolves when the clock reads `millis` or later. A timer may fire a fraction of a millisecond before: what was
   * learned would still stand, and a write would spend an attempt on it without a call.
   */
  async sleepUntil(millis: number): Promise<void> {
    const { clock } = this.#runtime;
    for (let left = millis - clock.now(); left > 0; left = millis - clock.now()) await sleep(clock, Math.max(1, left));
  }

  async #ensure(table: TableName, last: TableState | undefined): Promise<TableState> {
    const { clock, logger, metrics } = this.#runtime;
    const name = formatTableName(table);
    try {
      const { created, familiesAdded, families } = await inAdminTime(this.#runtime, (signal) =>
        this.#admin.ensure(table, this.#options.tableCreateOptions, signal),
      );
      if (created) metrics.count('tablesCreated');
      if (familiesAdded > 0) metrics.count('columnFamiliesAdded', familiesAdded);
      if (created || familiesAdded > 0) {
        logger.log('INFO', created ? 'created a table' : 'added column families', { table: name, familiesAdded });
      }
      return { kind: 'ensured', families, standsUntil: clock.now() + ENSURED_MILLIS };
    } catch (thrown) {
      const { message } = toError(thrown);
      if (thrown instanceof FamilyTypeError) {
        return { kind: 'mistyped', message, standsUntil: clock.now() + ENSURED_MILLIS };
      }
      const failures = last?.kind === 'failed' ? last.failures + 1 : 1;
      logger.log('WARNING', 'a table could not be ensured', { table: name, failures, error: describeError(thrown) });
      return { kind: 'failed', message, failures, standsUntil: this.retryAt(failures) };
    }
  }

  #keptOf(table: TableName): Kept {
    const key = formatTableName(table);
    const kept = this.#tables.get(key) ?? {};
    this.#tables.delete(key);
    this.#tables.set(key, kept);
    if (this.#tables.size > MAX_TABLES) {
      for (const [oldest, { ensuring }] of this.#tables) {
        if (ensuring) continue;
        this.#tables.delete(oldest);
        break;
      }
    }
    return kept;
  }
}
