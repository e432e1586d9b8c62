import type { Clock } from '../../shared/base/clock.ts';
import type { Random } from '../../shared/base/random.ts';
import { completeAnswers, type EntryAnswer } from '../../shared/bulk/answer.ts';
import type { MutateRows, MutateRowsCall, MutateRowsReply } from '../../shared/bulk/ports.ts';
import type { RowEntry } from '../../shared/model/mutation.ts';
import type { Status } from '../../shared/model/status.ts';

/**
 * A table with transient failures, on a hand-driven clock. Models what was measured of the service: one bad entry refuses
 * the whole request and nothing of it is applied; an answer may be lost before or after the request took effect; a
 * stream may end after some answers. Every record is one `setCell` whose value is its number.
 */
export class SimulatedBigtable implements MutateRows {
  /** Numbers in the order in which each row first took them. */
  readonly rows = new Map<string, number[]>();
  readonly violations: string[] = [];
  requests = 0;
  entriesOnTheWire = 0;
  mostEntriesOnTheWire = 0;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #isBad: (id: number) => boolean;
  /** Share of requests that meet a transient failure, 0..1. */
  failureShare: number;
  readonly #rowsOnTheWire = new Set<string>();

  constructor(clock: Clock, random: Random, isBad: (id: number) => boolean, failureShare: number) {
    this.#clock = clock;
    this.#random = random;
    this.#isBad = isBad;
    this.failureShare = failureShare;
  }

  sizeOf(entry: RowEntry): number {
    return 10 * entry.mutations.length;
  }

  send({ entries }: MutateRowsCall): Promise<MutateRowsReply> {
    this.requests += 1;
    const rows = entries.map(({ entry }) => entry.rowKey.toString());
    for (const row of rows) {
      if (this.#rowsOnTheWire.has(row)) this.violations.push(`row ${row} is in two requests, or twice in one`);
      this.#rowsOnTheWire.add(row);
    }
    const carried = entries.reduce((sum, { entry }) => sum + entry.mutations.length, 0);
    this.entriesOnTheWire += carried;
    this.mostEntriesOnTheWire = Math.max(this.mostEntriesOnTheWire, this.entriesOnTheWire);
    return new Promise((resolve) => {
      this.#clock.after(1 + Math.floor(this.#random() * 40), () => {
        this.entriesOnTheWire -= carried;
        for (const row of rows) this.#rowsOnTheWire.delete(row);
        resolve(this.#answer(entries.map(({ entry }) => entry)));
      });
    });
  }

  #answer(entries: readonly RowEntry[]): MutateRowsReply {
    const isBadRequest = entries.some((entry) => idsOf(entry).some(this.#isBad));
    const ends = (told: (EntryAnswer | undefined)[], ending?: Status, isHeard = true): MutateRowsReply => ({
      answers: completeAnswers(told, ending),
      isHeard,
    });
    const nothing = entries.map(() => undefined);
    const fault = this.#random() < this.failureShare ? Math.floor(this.#random() * 5) : undefined;
    if (fault === 0) return ends(nothing, { code: 'UNAVAILABLE', message: 'before' });
    if (fault === 1) return ends(nothing, { code: 'DEADLINE_EXCEEDED', message: 'silence' }, false);
    if (isBadRequest) return ends(nothing, { code: 'INVALID_ARGUMENT', message: 'bad entry' });
    if (fault === 2) {
      for (const entry of entries) this.#apply(entry);
      return ends(nothing, { code: 'UNAVAILABLE', message: 'the answer was lost' });
    }
    const cut = fault === 3 ? Math.floor(this.#random() * entries.length) : entries.length;
    const told = entries.map((entry, index): EntryAnswer | undefined => {
      if (index >= cut) {
        if (this.#random() < 0.5) this.#apply(entry);
        return undefined;
      }
      if (fault === 4 && this.#random() < 0.3) {
        return { kind: 'refused', status: { code: 'UNAVAILABLE', message: 'tablet' } };
      }
      this.#apply(entry);
      return { kind: 'applied' };
    });
    return ends(told);
  }

  #apply(entry: RowEntry): void {
    const row = entry.rowKey.toString();
    const taken = this.rows.get(row) ?? [];
    this.rows.set(row, taken);
    for (const id of idsOf(entry)) if (!taken.includes(id)) taken.push(id);
  }

  hasApplied(row: string, id: number): boolean {
    return this.rows.get(row)?.includes(id) ?? false;
  }
}

/** The record with this number, for this row. */
export const numberedEntry = (row: string, id: number): RowEntry => ({
  rowKey: Buffer.from(row),
  mutations: [
    {
      kind: 'setCell',
      family: 'f',
      qualifier: Buffer.from('q'),
      timestampMicros: 1000n,
      value: Buffer.from(String(id)),
    },
  ],
});

const idsOf = ({ mutations }: RowEntry): number[] =>
  mutations.map((mutation) => (mutation.kind === 'setCell' ? Number(mutation.value.toString()) : Number.NaN));
