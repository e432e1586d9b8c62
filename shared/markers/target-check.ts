import { abortable } from '../base/abort.ts';
import { toError } from '../base/errors.ts';
import type { Runtime } from '../base/runtime.ts';
import type { FamilyType } from '../config/resolved.ts';
import { formatTableName } from '../model/table-name.ts';
import type { TargetAdmin } from './ports.ts';
import { type Target, targetKey, targetProblems, type TargetReading } from './target.ts';
import { outOfTime, type Unfinished } from './outcome.ts';

export interface TargetCheckOptions {
  readonly markerHorizonMillis?: number;
  /** Of the pipeline's mapping; empty where records bring their own entries. */
  readonly declaredFamilies: Readonly<Record<string, FamilyType>>;
  /** A target that nothing asked about for longer is read again. */
  readonly idleMillis: number;
}

export interface TargetCheckDependencies {
  readonly admin: TargetAdmin;
  readonly runtime: Runtime;
}

/** A target as it was read, for as long as it is used. */
interface Known {
  readonly reading: Promise<TargetReading>;
  lastUsed: number;
}

/** Reading a target takes two admin calls; neither is waited for longer. */
const READ_TIMEOUT_MILLIS = 20_000;

/**
 * Whether a target is one that effects can be written to exactly once: asked before the first write, once for each
 * target and instance, whatever message or restored segment the write belongs to. What was found sound is not read
 * again until it was idle or a write to it failed; what was not is read at every attempt, so that a fix takes effect.
 */
export class TargetCheck {
  readonly #options: TargetCheckOptions;
  readonly #with: TargetCheckDependencies;
  readonly #known = new Map<string, Known>();
  readonly #warned = new Set<string>();

  constructor(options: TargetCheckOptions, dependencies: TargetCheckDependencies) {
    this.#options = options;
    this.#with = dependencies;
  }

  /**
   * Why nothing may be written to the target now; undefined when everything may.
   *
   * @param families those that the records name, which must be there.
   */
  async check(target: Target, families: Iterable<string>, signal: AbortSignal): Promise<Unfinished | undefined> {
    this.#sweep();
    const key = targetKey(target);
    try {
      const isFresh = !this.#known.has(key);
      const problems = await this.#problems(key, target, families, signal);
      if (problems.length === 0) return undefined;
      this.#known.delete(key);
      // A family may have been made since the target was read.
      const again = isFresh ? problems : await this.#problems(key, target, families, signal);
      if (again.length === 0) return undefined;
      this.#known.delete(key);
      return refused(target, again);
    } catch (error) {
      this.#known.delete(key);
      return signal.aborted ? outOfTime(toError(signal.reason), undefined) : unread(target, toError(error));
    }
  }

  /** A write to the target failed in a way that says that it may have changed: it is read again before the next. */
  forget(target: Target): void {
    this.#known.delete(targetKey(target));
  }

  async #problems(key: string, target: Target, families: Iterable<string>, signal: AbortSignal): Promise<string[]> {
    const now = this.#with.runtime.clock.now();
    let known = this.#known.get(key);
    if (!known) this.#known.set(key, (known = { reading: this.#read(target), lastUsed: now }));
    known.lastUsed = now;
    const reading = await abortable(known.reading, signal);
    if (reading.profile.kind === 'unchecked') this.#warnUnchecked(target);
    return targetProblems(target, reading, { ...this.#options, namedFamilies: families });
  }

  /** Shared by all who ask meanwhile, and therefore bounded by its own time, not by theirs. */
  async #read({ table, appProfileId }: Target): Promise<TargetReading> {
    const { admin, runtime } = this.#with;
    const time = new AbortController();
    const cancel = runtime.clock.after(READ_TIMEOUT_MILLIS, () => {
      time.abort(new Error(`no answer within ${READ_TIMEOUT_MILLIS} ms`));
    });
    try {
      const [profile, families] = await Promise.all([
        admin.readProfile(table, appProfileId, time.signal),
        admin.readFamilies(table, time.signal),
      ]);
      return { profile, families };
    } finally {
      cancel();
    }
  }

  #sweep(): void {
    const oldest = this.#with.runtime.clock.now() - this.#options.idleMillis;
    for (const [key, { lastUsed }] of this.#known) if (lastUsed < oldest) this.#known.delete(key);
  }

  #warnUnchecked({ table, appProfileId }: Target): void {
    const instance = `${table.project}.${table.instance}`;
    if (this.#warned.has(instance)) return;
    this.#warned.add(instance);
    this.#with.runtime.logger.log('WARNING', 'the app profile cannot be checked: this emulator knows none', {
      instance,
      appProfileId,
    });
  }
}

const refused = ({ table }: Target, problems: readonly string[]): Unfinished => ({
  kind: 'unfinished',
  reason: 'refused',
  message: `nothing is written to ${formatTableName(table)}, because it would not count exactly once: ${problems.join('; ')}`,
});

const unread = ({ table }: Target, error: Error): Unfinished => ({
  kind: 'unfinished',
  reason: 'transient',
  message: `${formatTableName(table)} and its app profile could not be read, which comes before the first write (it needs bigtable.tables.get and bigtable.appProfiles.get): ${error.message}`,
});
