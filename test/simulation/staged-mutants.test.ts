import { expect, test } from 'vitest';
import { decodeSegment, encodeSegment } from '../../shared/staged/envelope/segment.ts';
import { numberOf } from '../../shared/staged/segment-id.ts';
import type { IdRange } from '../../shared/staged/segment-id.ts';
import type { PipelineState } from '../../shared/staged/state.ts';
import type { MemoryStageStore } from '../support/memory-stage-store.ts';
import { findMutant } from './staged/hold.ts';
import type { Mutant } from './staged/world.ts';

/** Schedules by which each must be found. */
const WITHIN = 1000;

/** Heads of what `see` lets through. */
const lookingAt = (see: (store: MemoryStageStore, range: IdRange) => IdRange | undefined): Mutant => ({
  coordinator: (store) => ({
    readHeads: (range, limit, signal) => {
      const seen = see(store, range);
      return seen ? store.coordinator.readHeads(seen, limit, signal) : Promise.resolve([]);
    },
  }),
});

/** A look at completed numbers of a lane: from a number to another. */
const isLook = ({ from, to }: IdRange): boolean => /^[0-7]-\d{12}-$/.test(from) && /^[0-7]-\d{12}\.$/.test(to);

const firstOf = ({ from }: IdRange): number => Number(from.slice(2, 14));

const MUTANTS: Readonly<Record<string, Mutant>> = {
  'a committer does not look at the cluster that the markers are in': {
    committing: (store) => ({
      async noteCluster(found, instead, signal) {
        await store.committing.noteCluster(found, instead, signal);
        return found.cluster;
      },
    }),
  },
  'a stager does not read what identities hang on': {
    staging: (store) => ({
      async readPipeline(signal) {
        const pipeline = await store.staging.readPipeline(signal);
        return pipeline && withoutFingerprint(pipeline);
      },
    }),
  },
  'committed is counted down by what is finished, and not looked for': countingDown(),
  'a segment is deleted before its last answer': {
    committing: (store) => ({
      async readRange(range, limit, signal) {
        const found = await store.committing.readRange(range, limit, signal);
        await store.committing.finish(found.slice(0, 1), signal);
        return found;
      },
    }),
  },
  'a committer does not read what is completed': {
    committing: (store) => ({
      async readPipeline(signal) {
        const pipeline = await store.committing.readPipeline(signal);
        return pipeline && { ...pipeline, completed: Number.MAX_SAFE_INTEGER };
      },
    }),
  },
  'a look skips a lane': lookingAt((_store, range) =>
    isLook(range) && range.from.startsWith('5-') ? undefined : range,
  ),
  'a look starts at what is committed': lookingAt((store, range) => {
    const start = (store.pipeline?.committed ?? 0) + 1;
    if (!isLook(range) || firstOf(range) >= start) return range;
    const from = `${range.from.slice(0, 2)}${String(start).padStart(12, '0')}-`;
    return from < range.to ? { from, to: range.to } : undefined;
  }),
  'a rest lacks one of the envelopes that are open': {
    committing: (store) => ({
      finish: (segments, signal) =>
        store.committing.finish(
          segments.map(({ head, rest }) => {
            const open = rest ? decodeSegment(rest.payload).slice(1) : [];
            return rest && open.length > 0 ? { head, rest: { ...rest, payload: encodeSegment(open) } } : { head };
          }),
          signal,
        ),
    }),
  },
};

function withoutFingerprint(pipeline: PipelineState): PipelineState {
  return Object.fromEntries(
    Object.entries(pipeline).filter(([name]) => name !== 'fingerprint'),
  ) as unknown as PipelineState;
}

test.each(Object.entries(MUTANTS))(
  '%s: one of a thousand schedules shows it',
  async (_fault, mutant) => {
    const found = await findMutant(mutant, WITHIN);
    expect(found?.after).toBeLessThanOrEqual(WITHIN);
  },
  300_000,
);

test('the code itself passes the schedules that the mutants are held to', async () => {
  expect(await findMutant({}, 100)).toBeUndefined();
}, 120_000);

/** What the ledger of the generation before did: a segment that is finished twice counts twice. */
function countingDown(): Mutant {
  const left = new WeakMap<MemoryStageStore, Map<number, number>>();
  const countsOf = (store: MemoryStageStore): Map<number, number> => {
    const known = left.get(store) ?? new Map<number, number>();
    left.set(store, known);
    return known;
  };
  return {
    coordinator: (store) => ({
      async commit(commit, signal) {
        const number = commit.changes?.complete?.number;
        const owned = store.segments.filter((head) => head.number === number).length;
        const result = await store.coordinator.commit(commit, signal);
        if (result === 'committed' && number !== undefined) countsOf(store).set(number, owned);
        return result;
      },
      async readHeads(range, limit, signal) {
        const heads = await store.coordinator.readHeads(range, limit, signal);
        return isLook(range) ? heads.filter(({ number }) => (countsOf(store).get(number) ?? 1) > 0) : heads;
      },
    }),
    committing: (store) => ({
      async finish(segments, signal) {
        await store.committing.finish(segments, signal);
        for (const { head } of segments) {
          const number = numberOf(head.id);
          countsOf(store).set(number, (countsOf(store).get(number) ?? 0) - 1);
        }
      },
    }),
  };
}
