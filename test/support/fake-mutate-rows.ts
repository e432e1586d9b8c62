import type { EffectOf } from '../../infra/local/servers/bigtable/faults.ts';
import { type Clock, sleep } from '../../shared/base/clock.ts';
import { completeAnswers, type EntryAnswer } from '../../shared/bulk/answer.ts';
import type { MutateRows, MutateRowsCall, MutateRowsReply } from '../../shared/bulk/ports.ts';
import { familiesOf, type RowEntry } from '../../shared/model/mutation.ts';
import type { Status } from '../../shared/model/status.ts';
import { formatTableName } from '../../shared/model/table-name.ts';

type Effect = EffectOf<'MutateRows'>;

/**
 * Bigtable's `MutateRows` without a wire, for tests of what stands on the port. Models the verdicts of the service: one
 * malformed entry refuses the whole request, one unknown family makes every entry NOT_FOUND, and either way nothing is
 * applied. What goes wrong is told in the words of the embedded server. The contract suite holds it to the real adapter.
 *
 * @example
 * const bigtable = new FakeMutateRows(clock, { 'p.i.t': ['f'] });
 * bigtable.next({ kind: 'refuse', status: { code: 'UNAVAILABLE', message: 'try again' } });
 */
export class FakeMutateRows implements MutateRows {
  /** Every call, whatever became of it. */
  readonly calls: MutateRowsCall[] = [];
  /** Applied entries by table (`p.i.t`) and row key, in the order in which they were applied. */
  readonly applied = new Map<string, Map<string, RowEntry[]>>();
  /** Families by table (`p.i.t`); a table that is not here does not exist. */
  readonly families: Map<string, ReadonlySet<string>>;
  readonly #clock: Clock;
  readonly #effects: Effect[] = [];

  constructor(clock: Clock, tables: Readonly<Record<string, readonly string[]>>) {
    this.#clock = clock;
    this.families = new Map(Object.entries(tables).map(([table, families]) => [table, new Set(families)]));
  }

  /** What goes wrong with the next call that nothing was said of yet. */
  next(effect: Effect): void {
    this.#effects.push(effect);
  }

  /** Grows with what an entry holds, as the serialized size does. */
  sizeOf(entry: RowEntry): number {
    const payload = entry.mutations.map((mutation) => ('value' in mutation ? mutation.value.length : 0));
    return entry.rowKey.length + payload.reduce((sum, bytes) => sum + bytes + 8, 0);
  }

  async send(call: MutateRowsCall): Promise<MutateRowsReply> {
    this.calls.push(call);
    const effect = this.#effects.shift();
    if (effect?.kind === 'never-answer') {
      if (effect.isApplied) this.#serve(call, effect);
      return this.#silence(call, call.timeoutMillis);
    }
    const delayMillis = effect && 'delayMillis' in effect ? (effect.delayMillis ?? 0) : 0;
    if (delayMillis >= call.timeoutMillis) return this.#silence(call, call.timeoutMillis);
    if (delayMillis > 0) await this.#wait(delayMillis);
    if (effect?.kind === 'refuse') return replyOf(call, [], effect.status);
    const { told, ending } = this.#serve(call, effect);
    if (effect?.kind === 'lose-answer') return replyOf(call, [], effect.status);
    const reply = replyOf(call, told, ending);
    if (effect?.kind !== 'rate-limit') return reply;
    return { ...reply, rateLimit: { factor: effect.factor, periodMillis: effect.periodMillis } };
  }

  async #silence(call: MutateRowsCall, millis: number): Promise<MutateRowsReply> {
    await this.#wait(millis);
    return { ...replyOf(call, [], { code: 'DEADLINE_EXCEEDED', message: 'no answer' }), isHeard: false };
  }

  #wait(millis: number): Promise<void> {
    return sleep(this.#clock, millis, new AbortController().signal);
  }

  /** Judges the request as the service does, and applies what it lets pass. */
  #serve({ table, entries }: MutateRowsCall, effect: Effect | undefined): { told: Told; ending?: Status } {
    const name = formatTableName(table);
    const families = this.families.get(name);
    if (!families) return { told: [], ending: { code: 'NOT_FOUND', message: `Table not found: ${name}` } };
    if (entries.some(({ entry }) => isMalformed(entry))) {
      return { told: [], ending: { code: 'INVALID_ARGUMENT', message: 'an entry is malformed' } };
    }
    if (entries.some(({ entry }) => familiesOf(entry).some((family) => !families.has(family)))) {
      return { told: entries.map(() => ({ kind: 'refused', status: MISSING_FAMILY })) };
    }
    const told: Told = entries.map(({ entry }, index) => this.#applyOne(name, entry, index, effect));
    return effect?.kind === 'cut' && effect.status ? { told, ending: effect.status } : { told };
  }

  #applyOne(table: string, entry: RowEntry, index: number, effect: Effect | undefined): EntryAnswer | undefined {
    const status = effect?.kind === 'entry-statuses' ? effect.statuses.get(index) : undefined;
    if (status) return { kind: 'refused', status };
    const isCutOff = effect?.kind === 'cut' && index >= effect.entries;
    if (!isCutOff || effect.isRestApplied) this.#apply(table, entry);
    const isUntold = isCutOff || (effect?.kind === 'omit-status' && effect.index === index);
    return isUntold ? undefined : { kind: 'applied' };
  }

  #apply(table: string, entry: RowEntry): void {
    const rows = this.applied.get(table) ?? new Map<string, RowEntry[]>();
    this.applied.set(table, rows);
    const key = entry.rowKey.toString('latin1');
    rows.set(key, [...(rows.get(key) ?? []), entry]);
  }
}

type Told = (EntryAnswer | undefined)[];

const MISSING_FAMILY: Status = {
  code: 'NOT_FOUND',
  message: "Error while mutating the row 'r' : Requested column family not found.",
};

const isMalformed = ({ rowKey, mutations }: RowEntry): boolean =>
  rowKey.length === 0 ||
  mutations.length === 0 ||
  mutations.some(
    (mutation) =>
      mutation.kind === 'setCell' && mutation.timestampMicros !== -1n && mutation.timestampMicros % 1000n !== 0n,
  );

const replyOf = ({ entries }: MutateRowsCall, told: Told, ending?: Status): MutateRowsReply => ({
  answers: completeAnswers(
    entries.map((_, index) => told[index]),
    ending,
  ),
  isHeard: true,
});
