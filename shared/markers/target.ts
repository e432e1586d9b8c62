import type { FamilyType } from '../config/resolved.ts';
import { formatTableName, type TableName, tablePath } from '../model/table-name.ts';

/** Where envelopes go: what must be right before the first of them is sent. */
export interface Target {
  readonly table: TableName;
  /** Empty is the instance's default profile. */
  readonly appProfileId: string;
  readonly markerFamily: string;
}

/** What an app profile allows, as far as it was found. */
export type ProfileReading =
  | {
      readonly kind: 'found';
      readonly isSingleCluster: boolean;
      readonly isTransactional: boolean;
      /** Id of the one that it routes to. */
      readonly cluster?: string;
    }
  | { readonly kind: 'missing' }
  /** An emulator that knows nothing of profiles. */
  | { readonly kind: 'unchecked' };

export interface TargetFamily {
  /** In the words of the configuration; a description for a type that it has no word for. */
  readonly type: string;
  /** The least age, in milliseconds, at which garbage collection may take a cell; `Infinity` without a rule. */
  readonly keptMillis: number;
}

/** What a target is, read at one time. `families` is undefined where the table is missing. */
export interface TargetReading {
  readonly profile: ProfileReading;
  readonly families: ReadonlyMap<string, TargetFamily> | undefined;
}

/** What it must be. */
export interface TargetRules {
  /** Markers may be collected after this age; absent: never. */
  readonly markerHorizonMillis?: number;
  /** Families that the pipeline's mapping declares, with their types. */
  readonly declaredFamilies: Readonly<Record<string, FamilyType>>;
}

/** One word for one target, for maps. */
export const targetKey = ({ table, appProfileId, markerFamily }: Target): string =>
  [tablePath(table), appProfileId, markerFamily].join('\0');

/** An effect bound for a target, with the families that it names. */
export interface Targeted extends Target {
  readonly dataFamilies: Iterable<string>;
}

/** The targets of envelopes, each with the families that its envelopes name. */
export function targetsOf(envelopes: readonly Targeted[]): ReadonlyMap<string, TargetUse> {
  const uses = new Map<string, TargetUse>();
  for (const envelope of envelopes) {
    const key = targetKey(envelope);
    let use = uses.get(key);
    if (!use) uses.set(key, (use = { target: envelope, families: new Set() }));
    for (const family of envelope.dataFamilies) use.families.add(family);
  }
  return uses;
}

interface TargetUse {
  readonly target: Target;
  readonly families: Set<string>;
}

/**
 * Everything that is wrong with a target as a whole, each with what to do. Pure. Empty: what is written to it counts
 * exactly once, but for the families that records name, see {@link missingFamilies}.
 */
export function targetProblems(target: Target, { profile, families }: TargetReading, rules: TargetRules): string[] {
  const problems = profileProblems(target, profile);
  if (!families) {
    return [
      ...problems,
      `the table ${formatTableName(target.table)} does not exist: create it, or fix the destination`,
    ];
  }
  problems.push(...markerProblems(target, families.get(target.markerFamily), rules));
  for (const [family, type] of Object.entries(rules.declaredFamilies)) {
    const live = families.get(family);
    if (!live) problems.push(missingFamily(target, family));
    else if (live.type !== type) {
      problems.push(
        `the column family ${family} of ${formatTableName(target.table)} is of the type ${live.type}, but the mapping declares ${type}: fix the mapping, or write to another family`,
      );
    }
  }
  return problems;
}

/** Those of the families that records name which the table lacks: only the records that name one are held up by it. Pure. */
export function missingFamilies(families: TargetReading['families'], named: Iterable<string>): string[] {
  const missing: string[] = [];
  for (const family of named) if (families?.has(family) === false) missing.push(family);
  return missing;
}

function profileProblems({ table, appProfileId }: Target, profile: ProfileReading): string[] {
  const name = appProfileId === '' ? 'default' : appProfileId;
  const called = `the app profile ${name} of ${table.project}.${table.instance}`;
  const fix = `gcloud bigtable app-profiles update ${name} --project=${table.project} --instance=${table.instance} --route-to=CLUSTER --transactional-writes`;
  switch (profile.kind) {
    case 'unchecked':
      return [];
    case 'missing':
      return [
        `${called} does not exist: gcloud bigtable app-profiles create ${name} --project=${table.project} --instance=${table.instance} --route-to=CLUSTER --transactional-writes, or fix appProfileId`,
      ];
    case 'found':
      if (!profile.isSingleCluster) {
        return [
          `${called} routes to several clusters, each of which could apply an effect once: name a profile of one cluster in appProfileId, or ${fix}`,
        ];
      }
      return profile.isTransactional ? [] : [`${called} does not allow single-row transactions: ${fix}`];
    default:
      return profile satisfies never;
  }
}

function markerProblems({ table, markerFamily }: Target, live: TargetFamily | undefined, rules: TargetRules): string[] {
  const called = `the marker family ${markerFamily} of ${formatTableName(table)}`;
  const cbt = `cbt -project ${table.project} -instance ${table.instance}`;
  if (!live) return [`${called} does not exist: ${cbt} createfamily ${table.table} ${markerFamily}`];
  const problems: string[] = [];
  if (live.type !== 'raw') {
    problems.push(
      `${called} is of the type ${live.type}, but a marker is bytes: name an untyped family in markerFamily`,
    );
  }
  const horizonMillis = rules.markerHorizonMillis ?? Infinity;
  if (live.keptMillis < horizonMillis) {
    const needed =
      horizonMillis === Infinity
        ? `without markerHorizon it must have no rule: ${cbt} setgcpolicy ${table.table} ${markerFamily} never, or set markerHorizon`
        : `markerHorizon asks for ${Math.ceil(horizonMillis / 1000)} s: ${cbt} setgcpolicy ${table.table} ${markerFamily} maxage=${Math.ceil(horizonMillis / 1000)}s, or lower markerHorizon`;
    problems.push(
      `${called} has a garbage-collection rule that may take markers at an age of ${live.keptMillis / 1000} s, and an effect whose marker is gone counts again; ${needed}`,
    );
  }
  return problems;
}

/** What to do about a family that is missing. */
export const missingFamily = ({ table }: Target, family: string): string =>
  `the column family ${family} of ${formatTableName(table)} does not exist: create it with the type that the records need, or fix the mapping`;
