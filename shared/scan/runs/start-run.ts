import { type Clock, sleep } from '../../base/clock.ts';
import { ConnectorError } from '../../base/errors.ts';
import { StoreError } from '../../model/store.ts';
import { cancelled } from './decide-run.ts';
import type { RunsStore, ScanProgress } from './ports.ts';
import { isUnderWay, type Run, type RunOptions } from './run.ts';

/** How people and programs start and cancel runs: each is one commit. */

export interface StartRequest {
  /** See {@link RUN_ID}. The same id twice is one run. */
  readonly id: string;
  /**
   * Everything that the run goes by.
   *
   * @param lastDone the last run that is done, for one that reads what changed since.
   */
  readonly options: (lastDone: ScanProgress['lastDone']) => RunOptions;
  /** Whether it may start while another run of the pipeline is under way. */
  readonly concurrentRuns: 'refuse' | 'allow';
}

export type StartOutcome =
  | { readonly kind: 'started'; readonly run: Run }
  /** A run of this id is there, perhaps by an earlier attempt of the same start. */
  | { readonly kind: 'known'; readonly run: Run }
  | { readonly kind: 'refused'; readonly by: Run };

export interface RunsAccess {
  readonly store: RunsStore;
  readonly clock: Clock;
}

/** Ids of runs: letters, digits and `.`, `_`, `:`, `-` behind a letter or digit; up to 100. A time of RFC 3339 is one. */
export const RUN_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$/;

/** Of a run's options, which are one document: Firestore takes 1 MiB. */
export const MAX_OPTIONS_BYTES = 900 * 1024;

/** Attempts that meet other starts, or a store that is away for a moment. */
const MAX_ATTEMPTS = 8;
const PAUSE_MILLIS = 250;

/** A run that cannot be: the id or the size of what it is to go by. Nothing was started. */
export class StartError extends ConnectorError {
  override readonly name = 'StartError';
}

/**
 * Starts a run. The commit depends on the pipeline's document as it was read, which every start changes: of two starts at
 * once one looks again, and sees the other's run.
 */
export async function startRun(
  { id, options, concurrentRuns }: StartRequest,
  { store, clock }: RunsAccess,
  signal: AbortSignal,
): Promise<StartOutcome> {
  if (!RUN_ID.test(id)) throw new StartError(`the id of a run must match ${RUN_ID}, got ${JSON.stringify(id)}`);
  return untilDecided(clock, signal, async () => {
    const known = await store.readRun(id, signal);
    if (known) return { kind: 'known', run: known.value };
    const pipeline = await store.readPipeline(signal);
    const open = await store.readOpenRuns(signal);
    const other = open.find(({ value }) => isUnderWay(value));
    if (other && concurrentRuns === 'refuse') return { kind: 'refused', by: other.value };
    const before = pipeline?.value ?? { commits: 0, lease: { owner: '', epoch: 0, expiresAt: 0 } };
    const run: Run = { id, state: 'planning', startedAt: clock.now(), dead: [], isTold: false };
    const frozen = options(pipeline?.value.lastDone);
    requireFits(frozen);
    const next = { version: pipeline?.version, value: { ...before, commits: before.commits + 1 } };
    const result = await store.start(next, run, frozen, signal);
    return result === 'committed' ? { kind: 'started', run } : undefined;
  });
}

function requireFits(options: RunOptions): void {
  const bytes = Buffer.byteLength(options);
  if (bytes <= MAX_OPTIONS_BYTES) return;
  throw new StartError(
    `what a run goes by must fit into ${MAX_OPTIONS_BYTES} B, got ${bytes} B: name fewer ranges or prefixes, or several pipelines`,
  );
}

export type CancelOutcome =
  | { readonly kind: 'cancelled'; readonly run: Run }
  /** It ended before. */
  | { readonly kind: 'ended'; readonly run: Run }
  | { readonly kind: 'unknown' };

/** Cancels a run: slots see it at their next look, and give back what they have of it. */
export const cancelRun = (id: string, { store, clock }: RunsAccess, signal: AbortSignal): Promise<CancelOutcome> =>
  untilDecided(clock, signal, async () => {
    const read = await store.readRun(id, signal);
    if (!read) return { kind: 'unknown' };
    const run = cancelled(read.value, clock.now());
    if (!run) return { kind: read.value.state === 'cancelled' ? 'cancelled' : 'ended', run: read.value };
    const result = await store.write({ version: read.version, run }, signal);
    return result === 'committed' ? { kind: 'cancelled', run } : undefined;
  });

/** An attempt without an answer is looked at by the next one. */
async function untilDecided<Outcome>(
  clock: Clock,
  signal: AbortSignal,
  attempt: () => Promise<Outcome | undefined>,
): Promise<Outcome> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      const outcome = await attempt();
      if (outcome) return outcome;
      if (attempts === MAX_ATTEMPTS) {
        throw new StoreError('write a run', 'ABORTED', 'others wrote the same documents, again and again');
      }
    } catch (error) {
      if (attempts === MAX_ATTEMPTS || !(error instanceof StoreError) || !error.isTransient) throw error;
    }
    await sleep(clock, PAUSE_MILLIS * attempts, signal);
  }
}
