import type { UnitEmission, UnitOptions } from '../emission/unit.ts';
import type { RowRange } from '../model/row-range.ts';
import type { Form } from './forms/form.ts';
import type { ScanLetter } from './letter.ts';
import type { ReadEvent } from './reading/read-event.ts';

/** What the splits of one run are read with in one session. Nothing in it belongs to a single split. */
export interface RunWork {
  readonly run: string;
  /** Undefined: rows are counted and not published. */
  readonly form: Form | undefined;
  /** Of every split's unit, beside what belongs to the split. */
  readonly unit: Omit<UnitOptions, 'attributes' | 'setApart'>;
  readonly orderingKeyOf: (rowKey: Buffer) => string | undefined;
  readonly oversizedRow: 'fail' | 'quarantine';
  readonly open: OpenRows;
}

/**
 * The rows of a range in the order of their keys, with every retry inside: what one fetch gives, never nothing. Ends when
 * nothing of the range is left. Rejects with a `ReadFailedError`, or with the reason of the signal.
 */
export type OpenRows = (range: RowRange, signal: AbortSignal) => AsyncIterable<readonly ReadEvent[]>;

/** What the splits of a slot share, of whichever run they are. */
export interface SlotTools {
  /** Opens the way of one split to the topic. */
  readonly openUnit: <Position>(options: UnitOptions) => UnitEmission<Position>;
  /** Resolves when the letter is confirmed. */
  readonly fileLetter: (letter: ScanLetter, signal: AbortSignal) => Promise<void>;
}
