import { randomBytes } from 'node:crypto';
import type { Runtime } from '../../../shared/base/runtime.ts';
import type { ResolvedScanSource } from '../../../shared/config/resolved.ts';
import { createTicks, type Ticks } from '../../../shared/coordinator/tick.ts';
import type { Publisher } from '../../../shared/model/publishing.ts';
import { planSummary, planWarning, splitRanges } from '../../../shared/scan/plan/split-ranges.ts';
import type { SampleRowKeys } from '../../../shared/scan/ports.ts';
import { readRunOptions } from '../../../shared/scan/run-options.ts';
import { completedMessage } from '../../../shared/scan/run-completed.ts';
import type { AnnounceEnd, PlanRanges, ScanCoordinatorStore } from '../../../shared/scan/runs/ports.ts';
import type { RunsWatch } from '../../../shared/scan/runs/runs-watch.ts';
import { scanDecider } from '../../../shared/scan/runs/scan-decider.ts';

/** The ticks of a scanned pipeline: for slots and for `coordinate`. */

export interface ScanTicksDependencies {
  readonly name: string;
  readonly pipeline: ResolvedScanSource;
  readonly store: ScanCoordinatorStore;
  readonly sampleRowKeys: SampleRowKeys;
  /** A topic for the end of a run. */
  readonly publisherOf: (topic: string) => Publisher;
  readonly runtime: Runtime;
  /** Of the instance that measures; absent in a slot. */
  readonly watch?: RunsWatch;
}

/** The ticks of one invocation. @param owner unique to it. */
export function scanTicks(dependencies: ScanTicksDependencies, owner: string): Ticks {
  const { name, store, runtime, watch } = dependencies;
  const decider = scanDecider(name, {
    store,
    runtime,
    planRanges: planRangesOf(dependencies),
    newPlanId: () => randomBytes(8).toString('hex'),
    announce: announceOf(dependencies),
    ...(watch && { watch }),
  });
  return createTicks(decider, { store, clock: runtime.clock, owner });
}

/** Asks the table once where it would be cut, with the profile of the run itself. */
function planRangesOf({ pipeline, sampleRowKeys, runtime }: ScanTicksDependencies): PlanRanges {
  return async (run, text, signal) => {
    const { table, appProfileId, ranges } = readRunOptions(text);
    const samples = await sampleRowKeys(table, appProfileId, signal);
    runtime.metrics.count('rowKeySamplesTaken');
    const splits = splitRanges(ranges, samples);
    runtime.logger.log('INFO', 'a run is planned', { run: run.id, ...planSummary(splits, samples) });
    const warning = planWarning(splits, pipeline.slots.parallelism);
    if (warning !== undefined) runtime.logger.log('WARNING', warning, { run: run.id });
    return splits.map(({ range }) => range);
  };
}

function announceOf({ name, publisherOf }: ScanTicksDependencies): AnnounceEnd {
  return async (run, text, signal) => {
    const { emission } = readRunOptions(text);
    // A run that counts has nobody to tell.
    if (emission.topic === undefined) return;
    await publisherOf(emission.topic).publish(completedMessage(name, run), signal);
  };
}
