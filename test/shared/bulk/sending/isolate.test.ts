import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { completeAnswers } from '../../../../shared/bulk/answer.ts';
import { Batcher } from '../../../../shared/bulk/batcher.ts';
import type { Outcome } from '../../../../shared/bulk/outcome.ts';
import type { MutateRows, MutateRowsCall, MutateRowsReply } from '../../../../shared/bulk/ports.ts';
import type { RowEntry } from '../../../../shared/model/mutation.ts';
import type { Status } from '../../../../shared/model/status.ts';
import { tableName } from '../../../../shared/model/table-name.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { testRuntime } from '../../../support/runtime.ts';
import { seededRandom } from '../../../support/seeded-random.ts';
import { numberedEntry } from '../../../support/simulated-bigtable.ts';

type Kind = 'good' | 'bad' | 'missing-family';

const ANSWER_MILLIS = 10;

/** Judges as the service does: one bad entry refuses its whole request, which is told of that entry alone. */
class JudgingBigtable implements MutateRows {
  readonly applied: number[] = [];
  requests = 0;
  mostAtOnce = 0;
  #atOnce = 0;
  readonly #clock: ManualClock;
  readonly #kindOf: (id: number) => Kind;
  /** Answers that are transient failures, by the number of their request. */
  readonly #isLost: (request: number) => boolean;

  constructor(clock: ManualClock, kindOf: (id: number) => Kind, isLost: (request: number) => boolean) {
    this.#clock = clock;
    this.#kindOf = kindOf;
    this.#isLost = isLost;
  }

  sizeOf = (entry: RowEntry): number => 10 * entry.mutations.length;

  send({ entries }: MutateRowsCall): Promise<MutateRowsReply> {
    this.requests += 1;
    const { requests } = this;
    this.#atOnce += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#atOnce);
    return new Promise((resolve) => {
      this.#clock.after(ANSWER_MILLIS, () => {
        this.#atOnce -= 1;
        const ids = entries.flatMap(({ entry }) => idsOf(entry));
        const refusal = this.#isLost(requests) ? LOST : this.#refusalOf(ids);
        if (!refusal) this.applied.push(...ids);
        const told = entries.map(() => (refusal ? undefined : ({ kind: 'applied' } as const)));
        resolve({ answers: completeAnswers(told, refusal), isHeard: true });
      });
    });
  }

  #refusalOf(ids: readonly number[]): Status | undefined {
    const bad = ids.find((id) => this.#kindOf(id) === 'bad');
    if (bad !== undefined) return errorOf(bad);
    return ids.some((id) => this.#kindOf(id) === 'missing-family')
      ? { code: 'NOT_FOUND', message: 'Requested column family not found.' }
      : undefined;
  }
}

const NEVER: (request: number) => boolean = () => false;
const LOST: Status = { code: 'UNAVAILABLE', message: 'try again' };
const errorOf = (id: number): Status => ({ code: 'INVALID_ARGUMENT', message: `entry ${id} is bad` });
const idsOf = ({ mutations }: RowEntry): number[] =>
  mutations.map((mutation) => (mutation.kind === 'setCell' ? Number(mutation.value.toString()) : Number.NaN));

/** One batch that holds all the entries, `perRow` of them in each row. */
async function isolate(kinds: readonly Kind[], { perRow = 1, isLost = NEVER } = {}) {
  const clock = new ManualClock(0);
  const bigtable = new JudgingBigtable(clock, (id) => kinds[id] ?? 'good', isLost);
  const batcher = new Batcher(
    {
      batchElementCountThreshold: 10_000,
      batchRequestByteThreshold: 1e9,
      maxInFlightEntries: 10_000,
      maxInFlightBytes: 1e9,
      maxConcurrentBatches: 1,
      lingerMillis: 0,
      requestTimeoutMillis: 1000,
      retryInitialBackoffMillis: 20,
      retryMaxBackoffMillis: 200,
    },
    { mutateRows: bigtable, runtime: testRuntime({ clock }) },
  );
  const { signal } = new AbortController();
  const outcomes: Outcome[] = [];
  let endedAt = 0;
  for (const id of kinds.keys()) {
    const entry = numberedEntry(`row-${Math.floor(id / perRow)}`, id);
    await batcher.submit(tableName('p', 'i', 't'), entry, signal, (outcome) => {
      outcomes[id] = outcome;
      endedAt = clock.now();
    });
  }
  await clock.advance(1_000_000);
  return { bigtable, outcomes, millis: endedAt };
}

const whatIsTrue = (kind: Kind, id: number): unknown => {
  if (kind === 'good') return { kind: 'applied' };
  if (kind === 'bad') return { kind: 'rejected', status: errorOf(id) };
  return expect.objectContaining({ kind: 'redeliver', reason: 'missing-family' });
};

const kindsWithShares = fc
  .record({ count: fc.integer({ min: 1, max: 200 }), good: fc.constantFrom(0, 5, 10, 30, 100), seed: fc.nat() })
  .chain(({ count, good }) =>
    fc.array(
      fc.oneof(
        { weight: good, arbitrary: fc.constant<Kind>('good') },
        { weight: 4, arbitrary: fc.constant<Kind>('bad') },
        { weight: 1, arbitrary: fc.constant<Kind>('missing-family') },
      ),
      { minLength: count, maxLength: count },
    ),
  );

describe('whatever share of the entries is bad', () => {
  test('every good entry is applied once, every bad one is rejected with its own error, in a bounded number of requests', async () => {
    await fc.assert(
      fc.asyncProperty(kindsWithShares, async (kinds) => {
        const { bigtable, outcomes } = await isolate(kinds);
        expect(outcomes).toEqual(kinds.map(whatIsTrue));
        expect(bigtable.applied.toSorted((a, b) => a - b)).toEqual(idsThat(kinds, 'good'));
        const bad = kinds.filter((kind) => kind !== 'good').length;
        const byHalves = 2 * bad * (Math.ceil(Math.log2(kinds.length)) + 1);
        expect(bigtable.requests).toBeLessThanOrEqual(1 + Math.min(byHalves + 4 * bad, 2 * kinds.length));
        expect(bigtable.mostAtOnce).toBeLessThanOrEqual(8);
      }),
      { seed: 54, numRuns: 150 },
    );
  });

  test('the same of rows that many of them share, whose good entries are applied in their order', async () => {
    await fc.assert(
      fc.asyncProperty(kindsWithShares, fc.constantFrom(3, 40, 200), async (kinds, perRow) => {
        const { bigtable, outcomes } = await isolate(kinds, { perRow });
        expect(outcomes).toEqual(kinds.map(whatIsTrue));
        for (let first = 0; first < kinds.length; first += perRow) {
          const ofRow = bigtable.applied.filter((id) => id >= first && id < first + perRow);
          expect(ofRow).toEqual(idsThat(kinds, 'good').filter((id) => id >= first && id < first + perRow));
        }
      }),
      { seed: 55, numRuns: 150 },
    );
  });

  test('the same where a third of the answers is lost: nothing is decided by silence', async () => {
    await fc.assert(
      fc.asyncProperty(kindsWithShares, fc.constantFrom(1, 5), fc.nat(), async (kinds, perRow, seed) => {
        const random = seededRandom(seed);
        const { outcomes } = await isolate(kinds, { perRow, isLost: () => random() < 1 / 3 });
        expect(outcomes).toEqual(kinds.map(whatIsTrue));
      }),
      { seed: 56, numRuns: 80 },
    );
  });
});

const idsThat = (kinds: readonly Kind[], wanted: Kind): number[] =>
  [...kinds.keys()].filter((id) => kinds[id] === wanted);

describe('the requests and the time of one batch of a thousand', () => {
  const THOUSAND = Array.from({ length: 1000 }, (_, id) => id);

  test.each([
    { percent: 1, requests: 155, turns: 155 },
    { percent: 10, requests: 860, turns: 860 },
    { percent: 50, requests: 1050, turns: 200 },
    { percent: 100, requests: 1025, turns: 150 },
  ])('$percent % bad: at most $requests requests, in at most $turns turns', async ({ percent, requests, turns }) => {
    const { bigtable, millis } = await isolate(THOUSAND.map((id) => ((id * 7919) % 100 < percent ? 'bad' : 'good')));
    expect(bigtable.requests).toBeLessThanOrEqual(requests);
    expect(millis / ANSWER_MILLIS).toBeLessThanOrEqual(turns);
  });

  test('a run of bad entries among good ones does not send the good ones one by one', async () => {
    const { bigtable } = await isolate(THOUSAND.map((id) => (id < 20 ? 'bad' : 'good')));
    expect(bigtable.requests).toBeLessThanOrEqual(150);
  });

  test('one bad entry of a row that a thousand share costs about 2·log n requests', async () => {
    const { bigtable, outcomes } = await isolate(
      THOUSAND.map((id) => (id === 613 ? 'bad' : 'good')),
      { perRow: 1000 },
    );
    expect(outcomes.filter(({ kind }) => kind === 'applied')).toHaveLength(999);
    expect(bigtable.requests).toBeLessThanOrEqual(1 + 2 * 10);
  });

  test('in an outage the rest goes in one request and not one by one', async () => {
    const { bigtable, outcomes } = await isolate(
      THOUSAND.map(() => 'bad'),
      { isLost: (request) => request > 100 && request <= 130 },
    );
    expect(outcomes.every(({ kind }) => kind === 'rejected')).toBe(true);
    expect(bigtable.requests).toBeLessThanOrEqual(1150);
  });
});
