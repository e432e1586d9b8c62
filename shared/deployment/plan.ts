import type { ResolvedConfig, ResolvedPipeline } from '../config/resolved.ts';
import {
  ENTRY_POINTS,
  type EntryPointDeclaration,
  type EntryPointName,
  entryPoints,
  type FunctionSize,
} from './entry-points.ts';
import type { Grant } from './grants.ts';
import { type PlannedSubscription, type Purpose, type PushedPurpose, subscriptionsOf } from './subscriptions.ts';

/**
 * The plan of a deployment: what has to be there for a configuration to run, as plain lists. Whoever deploys works
 * through them in this order and decides nothing. Pure.
 */
export interface DeploymentPlan {
  readonly functions: readonly PlannedFunction[];
  /** With their topics. Outputs come before inputs. */
  readonly subscriptions: readonly PlannedSubscription[];
  readonly schedules: readonly PlannedSchedule[];
}

export interface PlannedFunction {
  /** Its name among the functions of the plan: `<pipeline>-sink`. */
  readonly name: string;
  readonly entryPoint: EntryPointName;
  /** The pipeline that it serves; absent where it serves all. */
  readonly pipeline?: string;
  readonly size: FunctionSize;
  /** Beside where its configuration is, which is the deployment's to say. */
  readonly environment: Readonly<Record<string, string>>;
  /** What its account needs. */
  readonly grants: readonly PlannedGrant[];
}

export type PlannedGrant = Omit<Grant, 'when'>;

/**
 * A job that posts to a function. Without retries: the next attempt comes soon enough. Never two attempts at a time: one
 * that is due meanwhile follows the last.
 */
export interface PlannedSchedule {
  readonly name: string;
  /** A function of the plan, by its name. */
  readonly function: string;
  /** In the form of cron, in UTC. */
  readonly cron: string;
  /** How long an attempt may take. */
  readonly attemptDeadlineSeconds: number;
  /** What is posted, as JSON; absent: nothing. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** The slot that its attempts are: each works for minutes in an instance of its own. */
  readonly slot?: number;
}

/** Begins the name of what belongs to no single pipeline. */
const SHARED_PREFIX = 'connector';

/** @param project completes names of topics and subscriptions that the configuration leaves bare. */
export function planDeployment(config: ResolvedConfig, project: string): DeploymentPlan {
  const pipelines = Object.entries(config.pipelines);
  const functions = entryPoints.flatMap((entryPoint) => functionsOf(entryPoint, pipelines));
  const subscriptions = pipelines.flatMap(([name, pipeline]) =>
    subscriptionsOf(name, pipeline, (purpose) => takerOf(functions, name, purpose), project),
  );
  const schedules = functions.flatMap((planned) => schedulesOf(planned, config.pipelines));
  return { functions, subscriptions: inOrder(subscriptions), schedules };
}

/** What of a plan brings a pipeline's records, or holds what it puts out; undefined where it does no such thing. */
export const subscriptionFor = (
  { subscriptions }: Pick<DeploymentPlan, 'subscriptions'>,
  purpose: Purpose,
  pipeline: string,
): PlannedSubscription | undefined =>
  subscriptions.find((one) => one.purpose === purpose && one.pipelines.includes(pipeline));

function functionsOf(
  entryPoint: (typeof entryPoints)[number],
  pipelines: readonly (readonly [string, ResolvedPipeline])[],
): PlannedFunction[] {
  const { name: entryPointName, suffix, size } = entryPoint;
  const served = pipelines.filter(([, pipeline]) => entryPoint.isNeededBy(pipeline));
  const common = { entryPoint: entryPointName, size };
  if (entryPoint.serves === 'one-pipeline') {
    return served.map(([name, pipeline]) => ({
      ...common,
      name: `${name}-${suffix}`,
      pipeline: name,
      environment: { CONNECTOR_PIPELINE: name },
      grants: grantsFor(entryPoint, [pipeline]),
    }));
  }
  const grants = grantsFor(
    entryPoint,
    served.map(([, pipeline]) => pipeline),
  );
  return served.length > 0 ? [{ ...common, name: `${SHARED_PREFIX}-${suffix}`, environment: {}, grants }] : [];
}

/** The grants that any of the pipelines needs, each once. */
function grantsFor({ grants }: EntryPointDeclaration, pipelines: readonly ResolvedPipeline[]): PlannedGrant[] {
  const needed = grants.filter(({ when }) => when === undefined || pipelines.some(when.holds));
  return needed
    .filter(({ role, on }, index) => needed.findIndex((other) => other.role === role && other.on === on) === index)
    .map(({ role, on, permissions }) => ({ role, on, ...(permissions && { permissions }) }));
}

/** Whoever takes the records of a pipeline takes its letters back. */
function takerOf(functions: readonly PlannedFunction[], pipeline: string, purpose: PushedPurpose): string {
  const taken = purpose === 'letters' ? 'records' : purpose;
  const taker = functions.find((one) => {
    const { trigger }: EntryPointDeclaration = ENTRY_POINTS[one.entryPoint];
    return one.pipeline === pipeline && trigger.kind === 'push' && trigger.of === taken;
  });
  if (!taker) throw new TypeError(`no entry point takes the ${purpose} of ${pipeline}`);
  return taker.name;
}

/** All readers before all that is pushed; a topic that several pipelines publish to has one reader for them. */
function inOrder(subscriptions: readonly PlannedSubscription[]): PlannedSubscription[] {
  const readers = new Map<string, PlannedSubscription>();
  for (const reader of subscriptions.filter(({ push }) => !push)) {
    const { pipelines = [] } = readers.get(reader.name) ?? {};
    readers.set(reader.name, { ...reader, pipelines: [...pipelines, ...reader.pipelines] });
  }
  return [...readers.values(), ...subscriptions.filter(({ push }) => push)];
}

function schedulesOf(
  { name, entryPoint, pipeline }: PlannedFunction,
  pipelines: ResolvedConfig['pipelines'],
): PlannedSchedule[] {
  const { trigger }: EntryPointDeclaration = ENTRY_POINTS[entryPoint];
  if (trigger.kind !== 'schedule') return [];
  const { cron, attemptDeadlineSeconds } = trigger;
  const job = { name, function: name, cron, attemptDeadlineSeconds };
  const served = pipeline === undefined ? undefined : pipelines[pipeline];
  if (!served || !trigger.slots) return [job];
  const slots = Array.from({ length: trigger.slots(served) }, (_, slot) => ({
    ...{ ...job, name: `${name}-${slot}`, body: { slot }, slot },
  }));
  const starts = trigger.starts?.(served);
  if (starts === undefined) return slots;
  const start = { ...job, name: `${name}-start`, cron: starts, attemptDeadlineSeconds: START_SECONDS };
  return [...slots, { ...start, body: { start: {} } }];
}

/** How long an attempt to start a run may take: it is answered when the run is written. */
export const START_SECONDS = 60;
