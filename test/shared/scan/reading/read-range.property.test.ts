import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Random } from '../../../../shared/base/random.ts';
import { Semaphore } from '../../../../shared/base/semaphore.ts';
import { containsKey, formatRange, isEmptyRange, type RowRange } from '../../../../shared/model/row-range.ts';
import { tableName } from '../../../../shared/model/table-name.ts';
import type { ReadRowsCall, RowMessage, RowMessages } from '../../../../shared/scan/ports.ts';
import { MAX_FAILURES, readRange } from '../../../../shared/scan/reading/read-range.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { type Chunk, rowsMessage } from '../../../support/row-chunks.ts';
import { failedWith, finished, oversizedAt } from '../../../support/scripted-read-rows.ts';
import { seededRandom } from '../../../support/seeded-random.ts';

interface Stored {
  readonly key: string;
  readonly kind: 'row' | 'filtered' | 'oversized';
}

/** A table whose reads are cut, reset, split and reported on at random; it keeps the promises of the service. */
class UnsteadyTable {
  readonly opened: RowRange[] = [];
  readonly #rows: readonly Stored[];
  readonly #random: Random;
  #failuresInARow = 0;

  constructor(rows: readonly Stored[], random: Random) {
    this.#rows = rows;
    this.#random = random;
  }

  readonly open = ({ range }: ReadRowsCall): RowMessages => {
    this.opened.push(range);
    const replies = this.#replies(range);
    let end: RowMessage | undefined;
    return {
      next: () => {
        const reply = end ?? replies.shift() ?? finished;
        if (reply.kind !== 'message') end = reply;
        return Promise.resolve(reply);
      },
      close: () => Promise.resolve(),
    };
  };

  #chance(share: number): boolean {
    return this.#random() < share;
  }

  /** All that one call answers; a failure may swallow messages that were on their way. */
  #replies(range: RowRange): RowMessage[] {
    const replies: RowMessage[] = [];
    let chunks: Chunk[] = [];
    let scanned: string | undefined;
    const flush = (): void => {
      if (chunks.length > 0) replies.push({ kind: 'message', message: rowsMessage(chunks) });
      if (scanned !== undefined) replies.push({ kind: 'message', message: rowsMessage([], scanned) });
      chunks = [];
      scanned = undefined;
    };
    for (const { key, kind } of this.#rows) {
      if (!containsKey(range, Buffer.from(key))) continue;
      if (kind === 'oversized') {
        flush();
        return this.#cut([...replies, oversizedAt(key)]);
      }
      if (kind === 'filtered') {
        if (this.#chance(0.5)) {
          scanned = key;
          flush();
        }
        continue;
      }
      chunks.push(...this.#rowChunks(key));
      if (this.#chance(0.4)) flush();
      if (this.#chance(0.15) && this.#failuresInARow < MAX_FAILURES - 2) {
        if (this.#chance(0.5)) chunks.pop();
        flush();
        this.#failuresInARow += 1;
        return this.#cut([...replies, failedWith('UNAVAILABLE')]);
      }
    }
    flush();
    this.#failuresInARow = 0;
    return [...replies, finished];
  }

  #rowChunks(key: string): Chunk[] {
    const whole: Chunk[] = [
      { key, family: 'f', qualifier: 'q', micros: 5n, value: key, size: 2 * key.length },
      { value: key, ...(this.#chance(0.5) && { status: 'commit' }) },
    ];
    if (whole[1]?.status === undefined) whole.push({ qualifier: 'r', value: 'w', status: 'commit' });
    return this.#chance(0.1) ? [...whole.slice(0, 1), { status: 'reset' }, ...whole] : whole;
  }

  #cut(replies: RowMessage[]): RowMessage[] {
    const end = replies.at(-1) as RowMessage;
    const kept = this.#chance(0.3) ? Math.floor(this.#random() * replies.length) : replies.length - 1;
    return [...replies.slice(0, kept), end];
  }
}

const key = fc.string({ unit: fc.constantFrom('a', 'b', 'm', 'z', '\0'), minLength: 1, maxLength: 3 });
const stored = fc
  .uniqueArray(
    fc.record({
      key,
      kind: fc.oneof(
        { weight: 8, arbitrary: fc.constant('row' as const) },
        { weight: 4, arbitrary: fc.constant('filtered' as const) },
        { weight: 1, arbitrary: fc.constant('oversized' as const) },
      ),
    }),
    { selector: (row) => row.key, maxLength: 30 },
  )
  .map((rows) => rows.toSorted((left, right) => Buffer.compare(Buffer.from(left.key), Buffer.from(right.key))));
const bound = fc.oneof(
  fc.constant({ kind: 'unbounded' } as const),
  fc.record({ kind: fc.constantFrom('closed' as const, 'open' as const), key: key.map((text) => Buffer.from(text)) }),
);

test('every row of the range is handed on once and in order, whatever happens to the calls, and no call asks for nothing', async () => {
  await fc.assert(
    fc.asyncProperty(
      stored,
      fc.record({ start: bound, end: bound }),
      fc.integer(),
      fc.integer({ min: 1, max: 4 }),
      async (rows, range, seed, maxRowsPerFetch) => {
        const random = seededRandom(seed);
        const table = new UnsteadyTable(rows, random);
        const clock = new ManualClock();
        const over = new AbortController();
        const seen: string[] = [];
        const positions: Buffer[] = [];
        const read = async (): Promise<void> => {
          const reading = readRange(
            {
              table: tableName('p', 'i', 't'),
              appProfileId: '',
              range,
              idleTimeoutMillis: 300_000,
              maxRowsPerFetch,
              maxBytesPerFetch: 100,
            },
            { readRows: table.open, largeRows: new Semaphore(1), clock, random },
            new AbortController().signal,
          );
          for await (const events of reading) {
            for (const event of events) {
              positions.push(event.kind === 'row' ? event.row.key : event.key);
              if (event.kind === 'row') seen.push(event.row.key.toString());
              if (event.kind === 'oversized') seen.push(`oversized ${event.key.toString()}`);
            }
          }
        };
        const reading = read().finally(() => {
          over.abort();
        });
        reading.catch(() => undefined);
        while (!over.signal.aborted) await clock.advance(10_000);
        await reading;

        const inside = rows.filter((row) => row.kind !== 'filtered' && containsKey(range, Buffer.from(row.key)));
        expect(seen).toEqual(inside.map((row) => (row.kind === 'row' ? row.key : `oversized ${row.key}`)));
        expect(table.opened.filter(isEmptyRange).map(formatRange)).toEqual([]);
        expect(positions.toSorted((left, right) => Buffer.compare(left, right))).toEqual(positions);
      },
    ),
    { numRuns: 1000 },
  );
});
