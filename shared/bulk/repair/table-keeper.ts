import { backoffDelay } from '../../base/backoff.ts';
import { sleep } from '../../base/clock.ts';
import { DeadlineError, toError } from '../../base/errors.ts';
import { describeError } from '../../base/logging.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { ResolvedTableCreateOptions, ResolvedWriterOptions } from '../../config/resolved.ts';
import { formatTableName, type TableName } from '../../model/table-name.ts';
import { declaresAggregate } from './ensure-table.ts';
import type { TableAdmin } from '../ports.ts';
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

export type TableKeeperOptions = Pick<
  ResolvedWriterOptions,
  'recoveryInitialBackoffMillis' | 'recoveryMaxBackoffMillis' | 'recoveryMaxAttempts'
> & { readonly tableCreateOptions: ResolvedTableCreateOptions };

export interface TableKeeperDependencies {
  readonly admin: TableAdmin;
  readonly runtime: Runtime;
}

/** One ensure, with all its calls. A creation that takes longer goes on without us; the next ensure finds the table. */
const ADMIN_TIMEOUT_MILLIS = 30_000;

/** A table that was ensured is not ensured again for this long: a record that misses a family has none to hope for. */
const ENSURED_MILLIS = 10_000;

/** Instances that start against the same fresh table must not come back in step; a quarter either way keeps the mean. */
const RECOVERY_JITTER = 0.25;

/** Records may name any number of tables. What is forgotten is asked again. */
const MAX_TABLES = 1000;

interface Kept {
  state?: TableState;
  ensuring?: Promise<TableState>;
  isChecked?: boolean;
  checking?: Promise<void>;
  /** The last check failed, and answers for all records until then: those of one message fail together. */
  checkAgainAt?: number;
}

/**
 * What one instance of a create-if-needed pipeline does about its tables, and what it remembers of them: at most one
 * ensure of a table at a time, none again while the last answer stands, and the check of aggregate types before the
 * first write.
 */
export class TableKeeper {
  /** Attempts per write: an ensure and what was sent after it are one. */
  readonly maxAttempts: number;
  readonly #options: TableKeeperOptions;
  readonly #admin: TableAdmin;
  readonly #runtime: Runtime;
  readonly #checksTypes: boolean;
  /** Insertion order is recency. */
  readonly #tables = new Map<string, Kept>();

  constructor(options: TableKeeperOptions, { admin, runtime }: TableKeeperDependencies) {
    this.#options = options;
    this.#admin = admin;
    this.#runtime = runtime;
    this.#checksTypes = declaresAggregate(options.tableCreateOptions);
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
    const { clock, random } = this.#runtime;
    const schedule = {
      initialMillis: this.#options.recoveryInitialBackoffMillis,
      maxMillis: this.#options.recoveryMaxBackoffMillis,
      jitter: RECOVERY_JITTER,
    };
    return clock.now() + backoffDelay(schedule, attempt, random);
  }

  /**
   * Resolves when the clock reads `millis` or later. A timer may fire a fraction of a millisecond before: what was
   * learned would still stand, and a write would spend an attempt on it without a call.
   */
  async sleepUntil(millis: number): Promise<void> {
    const { clock } = this.#runtime;
    for (let left = millis - clock.now(); left > 0; left = millis - clock.now()) await sleep(clock, Math.max(1, left));
  }

  /**
   * The check that the table's families are of their declared types; undefined when there is none to wait for: it was
   * made, or no aggregate is declared. One that fails is made again for records that come after the first backoff.
   */
  check(table: TableName): Promise<void> | undefined {
    if (!this.#checksTypes) return undefined;
    const kept = this.#keptOf(table);
    if (kept.isChecked) return undefined;
    const isOver = kept.checkAgainAt !== undefined && this.#runtime.clock.now() >= kept.checkAgainAt;
    if (!kept.checking || isOver) kept.checking = this.#check(table, kept);
    return kept.checking;
  }

  async #check(table: TableName, kept: Kept): Promise<void> {
    delete kept.checkAgainAt;
    try {
      await this.#inTime((signal) => this.#admin.checkTypes(table, this.#options.tableCreateOptions, signal));
      kept.isChecked = true;
      delete kept.checking;
    } catch (error) {
      kept.checkAgainAt = this.retryAt(1);
      throw error;
    }
  }

  async #ensure(table: TableName, last: TableState | undefined): Promise<TableState> {
    const { clock, logger, metrics } = this.#runtime;
    const name = formatTableName(table);
    try {
      const { created, familiesAdded, families } = await this.#inTime((signal) =>
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

  async #inTime<Result>(use: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const controller = new AbortController();
    const cancel = this.#runtime.clock.after(ADMIN_TIMEOUT_MILLIS, () => {
      controller.abort(new DeadlineError(`the table admin API did not finish within ${ADMIN_TIMEOUT_MILLIS} ms`));
    });
    try {
      return await use(controller.signal);
    } finally {
      cancel();
    }
  }

  #keptOf(table: TableName): Kept {
    const key = formatTableName(table);
    const kept = this.#tables.get(key) ?? {};
    this.#tables.delete(key);
    this.#tables.set(key, kept);
    if (this.#tables.size > MAX_TABLES) {
      for (const [oldest, { ensuring, checking, checkAgainAt }] of this.#tables) {
        if (ensuring || (checking && checkAgainAt === undefined)) continue;
        this.#tables.delete(oldest);
        break;
      }
    }
    return kept;
  }
}
