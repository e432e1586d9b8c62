import { abortable } from '../base/abort.ts';
import { toError } from '../base/errors.ts';
import { describeError } from '../base/logging.ts';
import type { Runtime } from '../base/runtime.ts';
import type { FamilyType } from '../config/resolved.ts';
import { formatTableName } from '../model/table-name.ts';
import { type TargetAdmin, TargetRefusedError } from './ports.ts';
import {
  missingFamilies,
  missingFamily,
  type Target,
  targetKey,
  targetProblems,
  type TargetReading,
} from './target.ts';
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

/** Why a target takes nothing, or which of the families that were asked for it lacks. */
export type Unsound =
  | { readonly kind: 'target'; readonly refusal: Unfinished }
  /** By family, why what names it is not written; everything else is. */
  | { readonly kind: 'families'; readonly refusals: ReadonlyMap<string, Unfinished> };

/** A target as it was read, for as long as it is used. */
interface Known {
  reading: Promise<TargetReading>;
  lastUsed: number;
  /** When it is read again in the background; `Infinity` while it is being read. */
  nextReadAt: number;
  /** Where its profile routes; undefined until it is read, and for an emulator without profiles. */
  cluster?: string | undefined;
}

/** Reading a target takes two admin calls; neither is waited for longer. */
const READ_TIMEOUT_MILLIS = 20_000;

/** What is used is read again after this long, and a minute after a reading that failed. */
const REREAD_MILLIS = 5 * 60_000;
const REREAD_AFTER_FAILURE_MILLIS = 60_000;

/** For a family that is missing a target is read at most this often: records of it may come with every message. */
const FAMILY_REREAD_MILLIS = 10_000;

/**
 * Whether a target is one that effects can be written to exactly once: asked before the first write, once for each
 * target and instance, whatever message or restored segment the write belongs to. What was found sound is read again
 * every five minutes of its use, beside the writes: where it has become worse, nothing is written after that; where it
 * cannot be read, the last reading stands. It is read anew after it was idle or a write to it failed. What was not sound
 * is read at every attempt, so that a fix takes effect.
 */
export class TargetCheck {
  readonly #options: TargetCheckOptions;
  readonly #with: TargetCheckDependencies;
  readonly #known = new Map<string, Known>();
  readonly #familiesReadAt = new Map<string, number>();
  readonly #warned = new Set<string>();

  constructor(options: TargetCheckOptions, dependencies: TargetCheckDependencies) {
    this.#options = options;
    this.#with = dependencies;
  }

  /**
   * What may not be written to the target now; undefined when everything may.
   *
   * @param families those that the records name, of which one that is missing holds up the records that name it.
   */
  async check(target: Target, families: Iterable<string>, signal: AbortSignal): Promise<Unsound | undefined> {
    this.#sweep();
    const key = targetKey(target);
    try {
      const isFresh = !this.#known.has(key);
      const found = await this.#look(key, target, families, signal);
      if (isSound(found)) return undefined;
      if (isFresh) return this.#unsound(key, target, found);
      // A fix may have come since the target was read. Whoever asks meanwhile waits for the same reading.
      if (this.#mayReadAgain(key, found)) this.#known.delete(key);
      const again = await this.#look(key, target, families, signal);
      return isSound(again) ? undefined : this.#unsound(key, target, again);
    } catch (error) {
      this.#known.delete(key);
      const refusal = signal.aborted ? outOfTime(toError(signal.reason), undefined) : unread(target, toError(error));
      return { kind: 'target', refusal };
    }
  }

  /** The cluster that the target's profile routes to, as the last check found it; undefined where it found none. */
  clusterOf(target: Target): string | undefined {
    return this.#known.get(targetKey(target))?.cluster;
  }

  /** A write to the target failed in a way that says that it may have changed: it is read again before the next. */
  forget(target: Target): void {
    this.#known.delete(targetKey(target));
  }

  async #look(key: string, target: Target, families: Iterable<string>, signal: AbortSignal): Promise<Found> {
    const now = this.#with.runtime.clock.now();
    let known = this.#known.get(key);
    if (!known) {
      known = { reading: this.#read(target), lastUsed: now, nextReadAt: now + REREAD_MILLIS };
      this.#known.set(key, known);
    } else if (now >= known.nextReadAt) {
      this.#readBeside(known, target);
    }
    known.lastUsed = now;
    const reading = await abortable(known.reading, signal);
    known.cluster = reading.profile.kind === 'found' ? reading.profile.cluster : undefined;
    if (reading.profile.kind === 'unchecked') this.#warnUnchecked(target);
    const problems = targetProblems(target, reading, this.#options);
    const isDeclared = (family: string): boolean => Object.hasOwn(this.#options.declaredFamilies, family);
    const missing = missingFamilies(reading.families, families).filter((family) => !isDeclared(family));
    return { problems, missing };
  }

  /** The next to ask gets what is read; whoever asks meanwhile gets what was read before. */
  #readBeside(known: Known, target: Target): void {
    const { clock, logger } = this.#with.runtime;
    known.nextReadAt = Infinity;
    this.#read(target).then(
      (reading) => {
        known.reading = Promise.resolve(reading);
        known.nextReadAt = clock.now() + REREAD_MILLIS;
      },
      (error: unknown) => {
        known.nextReadAt = clock.now() + REREAD_AFTER_FAILURE_MILLIS;
        logger.log('WARNING', 'a target could not be read again; what was read of it before stands', {
          table: formatTableName(target.table),
          error: describeError(error),
        });
      },
    );
  }

  /** Whatever is wrong with a target as a whole is worth a reading at any time; a missing family is now and then. */
  #mayReadAgain(key: string, { problems }: Found): boolean {
    if (problems.length > 0) return true;
    const now = this.#with.runtime.clock.now();
    if (now < (this.#familiesReadAt.get(key) ?? -Infinity) + FAMILY_REREAD_MILLIS) return false;
    this.#familiesReadAt.set(key, now);
    return true;
  }

  #unsound(key: string, target: Target, { problems, missing }: Found): Unsound {
    if (problems.length > 0) {
      this.#known.delete(key);
      return { kind: 'target', refusal: refused(target, problems) };
    }
    return { kind: 'families', refusals: new Map(missing.map((family) => [family, lacking(target, family)])) };
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
    for (const [key, { lastUsed }] of this.#known) {
      if (lastUsed >= oldest) continue;
      this.#known.delete(key);
      this.#familiesReadAt.delete(key);
    }
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

const lacking = (target: Target, family: string): Unfinished => ({
  kind: 'unfinished',
  reason: 'missing-family',
  message: `what names it is not written: ${missingFamily(target, family)}`,
});

const unread = ({ table }: Target, error: Error): Unfinished => ({
  kind: 'unfinished',
  reason: error instanceof TargetRefusedError ? 'refused' : 'transient',
  message: `${formatTableName(table)} and its app profile could not be read, which comes before the first write (it needs bigtable.tables.get and bigtable.appProfiles.get): ${error.message}`,
});

/** What is wrong with a target, and which of the families that were asked for are missing. */
interface Found {
  readonly problems: readonly string[];
  readonly missing: readonly string[];
}

const isSound = ({ problems, missing }: Found): boolean => problems.length === 0 && missing.length === 0;
