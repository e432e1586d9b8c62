import type { Decider } from '../../coordinator/decider.ts';
import type { LedgerWrite } from '../ledger/writes.ts';
import type { Source } from '../source.ts';
import { newSource, type SourceView, stepOf } from './decide-source.ts';
import { SourceReader, type SourceReaderDependencies } from './read-source.ts';
import { tellStep } from './tell-step.ts';

export type ChangeStreamDecider = Decider<Source, SourceView, readonly LedgerWrite[], never>;

const TICK_MILLIS = 10_000;

/** The rest of many partitions is left to the next tick, so that none is cut short. */
const WORK_MILLIS = 5_000;

/** A start with 20,000 partitions is 50 commits. */
const MAX_ROUNDS = 100;

/**
 * What a coordinator does for a change stream: it starts it, recovers what nobody reads, ends a bounded run, stops it for what
 * holds for the whole table and tries again, and measures. For one invocation. Readers do everything else themselves: an hour
 * without it loses nothing and stops nothing.
 *
 * A tick that finds nothing to do takes no lease and writes nothing.
 */
export function changeStreamDecider(name: string, dependencies: SourceReaderDependencies): ChangeStreamDecider {
  const { store, asked, watch, runtime } = dependencies;
  const reader = new SourceReader(dependencies);
  let tickedAt = 0;
  let isStarting = false;
  /** What the tick found, for the first of its decisions. */
  let found: { readonly commits: number | undefined; readonly view: SourceView } | undefined;
  return {
    name,
    intervalMillis: TICK_MILLIS,
    maxRounds: MAX_ROUNDS,
    counted: ['started', 'stopped', 'resumed', 'reconciled', 'done'],
    async hasWork(now, signal) {
      tickedAt = now;
      const source = (await store.readPipeline(signal))?.value;
      watch.seesSource(source);
      const view = await reader.read(source, now, signal);
      found = { commits: source?.commits, view };
      return stepOf(source, view, asked, now) !== undefined;
    },
    // A start that takes several ticks must not be begun anew by another in between.
    keepsLease: () => isStarting,
    async read({ pipeline, now }, signal) {
      const first = found;
      found = undefined;
      if (first && first.commits === pipeline?.commits) return first.view;
      return reader.read(pipeline, now, signal);
    },
    decide({ pipeline, now }, view) {
      const step = stepOf(pipeline, view, asked, now);
      const source = step?.source ?? pipeline ?? newSource(asked);
      return {
        pipeline: { ...source, commits: source.commits + 1 },
        changes: step?.changes ?? [],
        messages: [],
        counts: step ? { [step.event]: 1 } : {},
        hasMore: step?.hasMore === true && now - tickedAt < WORK_MILLIS,
      };
    },
    committed({ pipeline, now }, view, { pipeline: after, changes }) {
      isStarting = after.status === 'starting';
      reader.committed(
        after,
        changes.some(({ kind }) => kind === 'topology-moved' || kind === 'topology-moved-from'),
      );
      watch.seesSource(after);
      const step = stepOf(pipeline, view, asked, now);
      if (step) tellStep(step, view.scan?.ledger, runtime);
    },
    publish: () => Promise.resolve(),
    end: () => {
      reader.end();
    },
  };
}
