import { within } from '../../../shared/base/deadline.ts';
import { describeError } from '../../../shared/base/logging.ts';
import { Semaphore } from '../../../shared/base/semaphore.ts';
import type { ResolvedScanSource } from '../../../shared/config/resolved.ts';
import { createEmission } from '../../../shared/emission/emission.ts';
import { orderingKeyOf } from '../../../shared/emission/messages/ordering-key.ts';
import type { SendPublish } from '../../../shared/emission/ports.ts';
import type { ScanViews } from '../../../shared/google/firestore/database.ts';
import { createForm } from '../../../shared/scan/forms/create-form.ts';
import { readFamilyTypes } from '../../../shared/scan/forms/family-types.ts';
import { letterMessage } from '../../../shared/scan/letter.ts';
import type { ReadRows, SampleRowKeys } from '../../../shared/scan/ports.ts';
import { ReadPace } from '../../../shared/scan/reading/read-pace.ts';
import { readRange } from '../../../shared/scan/reading/read-range.ts';
import { readSlot, type SlotReport } from '../../../shared/scan/read-slot.ts';
import { readRunOptions } from '../../../shared/scan/run-options.ts';
import type { RunWork } from '../../../shared/scan/run-work.ts';
import { bytesOfSplit, waitingSplit } from '../../../shared/scan/runs/split-updates.ts';
import type { TargetAdmin } from '../../../shared/markers/ports.ts';
import type { Instance } from '../instance.ts';
import type { SlotEnding } from '../slots/slot-handler.ts';
import { scanTicks } from './scan-ticks.ts';

/** What the slots of an instance share, over all invocations. */
export interface ScanSurroundings {
  readonly views: ScanViews;
  readonly readRows: ReadRows;
  readonly sampleRowKeys: SampleRowKeys;
  /** Of the endpoint that a run names. */
  readonly sendBy: (endpoint: string | undefined) => SendPublish;
  /** What the form `entry` asks of a table. */
  readonly openAdmin: () => Promise<Pick<TargetAdmin, 'readFamilies'>>;
}

/** A tick that hangs holds up no split; the coordinator's own are as long. */
const TICK_MILLIS = 8_000;
const RELEASE_MILLIS = 3_000;

/** One invocation of a slot, with everything that it works by. @param owner unique to it. */
export async function readScanSlot(
  slot: number,
  owner: string,
  instance: Instance<ResolvedScanSource>,
  surroundings: ScanSurroundings,
  ending: SlotEnding,
): Promise<SlotReport> {
  const { pipeline, name, runtime } = instance;
  const { clock, random, logger } = runtime;
  const { slots, reading, emission: output } = pipeline;
  const { views, sendBy } = surroundings;
  const send = sendBy(output.endpoint);
  const { parallelism } = slots;
  const pace = new ReadPace(
    {
      ...(reading.maxRowsPerSecond !== undefined && { maxRowsPerSecond: reading.maxRowsPerSecond / parallelism }),
      ...(reading.maxBytesPerSecond !== undefined && { maxBytesPerSecond: reading.maxBytesPerSecond / parallelism }),
      onWaited: (millis) => {
        runtime.metrics.count('throttledTime', millis);
      },
    },
    clock,
  );
  const reader = { readRows: surroundings.readRows, largeRows: new Semaphore(1), pace, clock, random };
  // What is told beside the rows: no lease fences it, because it repeats without harm.
  const told = createEmission({
    send,
    runtime,
    remainingMillis: () => Infinity,
    signal: ending.end,
    maxOutstandingBytes: slots.maxOutstandingBytes,
  });
  const ticks = scanTicks(
    {
      ...{ name, pipeline, runtime },
      store: views.coordinator,
      sampleRowKeys: surroundings.sampleRowKeys,
      publisherOf: (topic) => told.publisher(topic),
    },
    owner,
  );

  const workOf = async (run: string, signal: AbortSignal): Promise<RunWork> => {
    const frozen = readRunOptions(await views.slots.readOptions(run, signal));
    const { emission, table, appProfileId, filter } = frozen;
    const { maxRecordsPerMessage, oversizedMessage, failurePolicy, orderingKeys } = emission;
    const form = await createForm(frozen.form, {
      isPacked: maxRecordsPerMessage > 1,
      readFamilyTypes: async () => readFamilyTypes(await surroundings.openAdmin(), table, signal),
      deployed: { form: pipeline.form, baseDirectory: instance.baseDirectory },
    });
    return {
      ...{ run, form },
      // Where rows are counted alone nothing is ever published.
      unit: { topic: emission.topic ?? '', maxRecordsPerMessage, oversizedMessage, failurePolicy },
      orderingKeyOf: orderingKeyOf(orderingKeys),
      oversizedRow: frozen.oversizedRow,
      open: (range, until) =>
        readRange({ ...{ table, appProfileId, range }, ...(filter && { filter }), ...reading }, reader, until),
    };
  };

  try {
    return await readSlot(
      {
        ...{ slot, owner, parallelism, runtime, workOf },
        store: views.slots,
        giveBack: waitingSplit,
        bytesOf: bytesOfSplit,
        maxConcurrentSplits: reading.maxConcurrentSplits,
        commitIntervalMillis: slots.commitIntervalMillis,
        async advance(signal) {
          await within(clock, TICK_MILLIS, 'a tick', (until) => ticks.tick(until), signal);
        },
        toolsFor(session) {
          const emission = createEmission({
            ...{ send, runtime },
            remainingMillis: () => session.remainingMillis(),
            signal: AbortSignal.any([ending.end, session.lost]),
            maxOutstandingBytes: slots.maxOutstandingBytes,
          });
          const letters = output.deadLetterTopic;
          return {
            openUnit: (options) => emission.open(options),
            fileLetter(letter, signal) {
              if (letters === undefined) throw new TypeError('the rules let a policy of letters pass without a topic');
              return emission.publisher(letters).publish(letterMessage(name, letter), signal);
            },
            close: () => {
              emission.close();
            },
          };
        },
      },
      ending,
    );
  } finally {
    ticks.end?.();
    await within(clock, RELEASE_MILLIS, "giving the coordinator's lease back", (until) => ticks.release(until)).catch(
      (error: unknown) => {
        logger.log('WARNING', "the coordinator's lease was not given back; it runs out", {
          cause: describeError(error),
        });
      },
    );
    told.close();
  }
}
