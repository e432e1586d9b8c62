import { toError } from '../base/errors.ts';
import type { Runtime } from '../base/runtime.ts';
import { EmissionError, type RefusedMessage } from '../emission/failure.ts';
import { rowKeyAttribute } from '../emission/messages/attributes.ts';
import type { LargeData, OutgoingMessage } from '../model/publishing.ts';
import { formatRowKey, type RowRange, truncateAfter } from '../model/row-range.ts';
import type { Row } from '../model/row.ts';
import { attributesOf } from './forms/attributes.ts';
import type { FormRecord } from './forms/form.ts';
import type { ReadEvent } from './reading/read-event.ts';
import type { RunWork, SlotTools } from './run-work.ts';
import type { HeldSplit, SplitCounts } from './runs/split.ts';

/** How far a split has come. */
export interface SplitPlace {
  /** What is left of it; undefined: nothing. */
  readonly range: RowRange | undefined;
  /** Of the split since its run started. */
  readonly counts: SplitCounts;
}

/** How the reading of a split ended. */
export type SplitEnding =
  /** Nothing is left of its range, and everything is confirmed. */
  | { readonly kind: 'finished' }
  /** It was told to stop, or the slot's time is used up; the rest waits. */
  | { readonly kind: 'stopped' }
  /** The rest waits for another attempt. `problem` says what was refused and what to do. */
  | { readonly kind: 'failed'; readonly problem: string };

/** A split that is being read. */
export interface SplitReader {
  /** Always resolves, when no attempt of its messages is on its way; by `end` in any case. */
  readonly ended: Promise<SplitEnding>;
  /** Where it may be said to be by now; undefined where that is what was said last. */
  takePlace(): SplitPlace | undefined;
}

export interface SplitReading {
  readonly id: string;
  readonly held: HeldSplit;
  readonly work: RunWork;
  readonly tools: SlotTools;
  readonly runtime: Runtime;
  /** Reading ends; what is on its way goes on to its end. */
  readonly stop: AbortSignal;
  /** Everything ends: the slot is another's, or its time is used up. */
  readonly end: AbortSignal;
}

/** Behind a row or a key that says how far the service has looked; or behind all of them. */
interface Position {
  /** The key, a byte a character: a text costs less than bytes of its own, and most positions are never asked for. */
  readonly after: string | undefined;
  readonly counts: SplitCounts;
}

/**
 * Reads a split and hands its rows on: rows → records → messages in order → the position behind them, which may be
 * committed once everything before it is confirmed. A row of which the form makes nothing, a row that the service will not
 * read and a key that says how far it has looked move the position as well: a scan moves where nothing comes out.
 */
export function readSplit(reading: SplitReading): SplitReader {
  const { id, held, work, tools, runtime, stop, end } = reading;
  const { metrics } = runtime;
  const { form } = work;
  const counts: { -readonly [Name in keyof SplitCounts]: SplitCounts[Name] } = { ...held.counts };
  const unit = tools.openUnit<Position>({
    ...work.unit,
    attributes: attributesOf(work.run, id, form),
    setApart: fileRefused,
  });
  const namesRow = work.unit.maxRecordsPerMessage === 1;
  const signal = AbortSignal.any([stop, end, unit.failed]);
  return {
    ended: readAll(),
    takePlace() {
      const position = unit.takeCommittable();
      if (!position) return undefined;
      const { after } = position;
      const key = after === undefined ? undefined : Buffer.from(after, 'latin1');
      return { range: key && truncateAfter(held.range, key), counts: position.counts };
    },
  };

  async function readAll(): Promise<SplitEnding> {
    try {
      for await (const events of work.open(held.range, signal)) await handOn(events);
      // Once all is confirmed: by then every row that was set apart is counted.
      await unit.settled(signal);
      pass(undefined);
      return await settled(undefined);
    } catch (error) {
      return await settled(toError(error));
    } finally {
      unit.close();
    }
  }

  /** Waits until nothing is on its way: only then may anybody read the rest again. */
  async function settled(failure: Error | undefined): Promise<SplitEnding> {
    if (failure && !signal.aborted) unit.fail(new EmissionError('source', failure.message, { cause: failure }));
    try {
      await unit.settled(end);
    } catch {
      return { kind: 'stopped' };
    }
    if (!failure && !unit.failure) return { kind: 'finished' };
    const broken = unit.failure;
    if (broken ? broken.kind === 'ended' : stop.aborted || end.aborted) return { kind: 'stopped' };
    return { kind: 'failed', problem: (broken ?? failure)?.message ?? '' };
  }

  async function handOn(events: readonly ReadEvent[]): Promise<void> {
    let rows = 0;
    let bytes = 0;
    for (const event of events) {
      switch (event.kind) {
        case 'row': {
          const waiting = handOnRow(event.row);
          if (waiting) await waiting;
          rows += 1;
          bytes += event.row.bytes;
          break;
        }
        case 'scanned':
          pass(event.key);
          break;
        case 'oversized':
          await leaveOutOversized(event.key, event.problem);
          break;
        default:
          event satisfies never;
      }
    }
    if (rows === 0) return;
    metrics.count('rowsRead', rows);
    metrics.count('bytesRead', bytes);
  }

  /** Undefined where there was nothing to wait for, as nearly always: a promise for each row would cost more than the row. */
  function handOnRow(row: Row): Promise<void> | undefined {
    counts.rows += 1;
    counts.cells += row.cells.length;
    counts.bytes += row.bytes;
    if (!form) {
      pass(row.key);
      return undefined;
    }
    let records: readonly FormRecord[];
    try {
      records = form.records(row);
    } catch (error) {
      return leaveOutRow(row, toError(error).message);
    }
    const [first] = records;
    if (!first) {
      counts.skipped += 1;
      metrics.count('recordsSkipped');
      pass(row.key);
      return undefined;
    }
    if (records.length > 1) return emitAll(row, records);
    const waiting = emitRecord(row.key, first);
    if (waiting)
      return waiting.then(() => {
        passRow(row, 1);
      });
    passRow(row, 1);
    return undefined;
  }

  async function emitAll(row: Row, records: readonly FormRecord[]): Promise<void> {
    for (const record of records) {
      const waiting = emitRecord(row.key, record);
      if (waiting) await waiting;
    }
    passRow(row, records.length);
  }

  function emitRecord(rowKey: Buffer, record: FormRecord): Promise<void> | undefined {
    if (Buffer.isBuffer(record) || 'data' in record) return unit.emit(messageOf(rowKey, record));
    return unit.emitLarge({ ...messageOf(rowKey, NO_BYTES), data: record });
  }

  function messageOf(rowKey: Buffer, record: Exclude<FormRecord, LargeData>): OutgoingMessage {
    const orderingKey = work.orderingKeyOf(rowKey);
    const attributes = namesRow ? rowKeyAttribute(rowKey) : NO_ATTRIBUTES;
    const isBare = Buffer.isBuffer(record);
    const data = isBare ? record : record.data;
    const all = isBare ? attributes : { ...attributes, ...record.attributes };
    return orderingKey === undefined ? { data, attributes: all } : { data, attributes: all, orderingKey };
  }

  /** The form cannot be made of it, or a module threw at it. */
  async function leaveOutRow({ key }: Row, problem: string): Promise<void> {
    if (work.unit.failurePolicy === 'fail') throw new Error(`the row ${formatRowKey(key)} has no form: ${problem}`);
    await file({ reason: 'form', problem, rowKey: key, data: NO_BYTES }, signal);
    pass(key);
  }

  async function leaveOutOversized(key: Buffer, problem: string): Promise<void> {
    if (work.oversizedRow === 'fail') {
      throw new Error(
        `the row ${formatRowKey(key)} is too large for the service to read: ${problem}. Delete cells of it, read fewer families or versions, or set oversizedRow to quarantine`,
      );
    }
    await file({ reason: 'oversized-row', problem, rowKey: key, data: NO_BYTES }, signal);
    pass(key);
  }

  function fileRefused({ message, problem, status }: RefusedMessage, until: AbortSignal): Promise<void> {
    return file({ reason: status ? 'refused' : 'oversized-message', problem, data: message.data }, until);
  }

  async function file(
    letter: Omit<Parameters<SlotTools['fileLetter']>[0], 'run' | 'split'>,
    until: AbortSignal,
  ): Promise<void> {
    await tools.fileLetter({ ...letter, run: work.run, split: id }, until);
    counts.quarantined += 1;
    metrics.count('rowsQuarantined');
  }

  function passRow({ key }: Row, records: number): void {
    counts.messages += records;
    pass(key);
  }

  /** A copy of the key: what came from the service is larger, and would stay for as long. */
  function pass(key: Buffer | undefined): void {
    unit.pass({ after: key?.toString('latin1'), counts: { ...counts } });
  }
}

const NO_BYTES = Buffer.alloc(0);
const NO_ATTRIBUTES: Readonly<Record<string, string>> = {};
