import type { PlainCellType } from '../codecs/cell-types.ts';

/**
 * The write modes, as facts: the schema, the checks, the error texts and the reference page are made of this table. A
 * new mode is a row here, its compiler in `modes/`, and that compiler's line in `modes/compile-write.ts`. Pure data.
 */

/** Treatment of a null: its encoding is written, the cell is left alone, its versions are deleted, the record is refused. */
export type NullMode = 'encode' | 'ignore' | 'delete' | 'reject';

/** What a mode needs of a mapping, beside the row key. */
export type Carried = 'conditional' | 'families' | 'cells' | 'cells-or-deletes';

export interface WriteModeFacts {
  /** The change that a record makes to its row. Neighbours that do the same are told in one sentence. */
  readonly does: string;
  /** An entry of a batch, which bulk and staged sinks write, or a request of its own, which a request sink sends. */
  readonly makes: 'entry' | 'conditional' | 'read-modify-write';
  /** Of modes that make entries: a request sink sends them too, where each carries a marker. */
  readonly mayBeMarked?: true;
  readonly carries: Carried;
  /** Options of a mapping that mean nothing here. Refused even at their default: whoever writes them expects an effect. */
  readonly refuses: readonly string[];
  /** What may become of nulls; the first is the default. */
  readonly nulls: readonly NullMode[];
  /** The types that it writes, each in its own bytes; absent: all, in either encoding. */
  readonly types?: readonly PlainCellType[];
  /** Whether columns may be named by the data. */
  readonly isDynamic?: true;
  /** Whether every family says how the service combines what is added to it. */
  readonly isAggregate?: true;
}

/** In the order of messages and pages: modes that make entries first. */
export const WRITE_MODES = {
  upsert: {
    does: 'sets cells',
    makes: 'entry',
    carries: 'cells-or-deletes',
    refuses: ['conditional'],
    nulls: ['encode', 'ignore', 'delete', 'reject'],
    isDynamic: true,
  },
  'keep-latest': {
    does: 'deletes the versions of each cell before it sets it (`columnDeletes` says which)',
    makes: 'entry',
    carries: 'cells-or-deletes',
    refuses: ['conditional'],
    nulls: ['encode', 'ignore', 'delete', 'reject'],
    isDynamic: true,
  },
  aggregate: {
    does: 'adds integers',
    makes: 'entry',
    mayBeMarked: true,
    carries: 'cells',
    refuses: ['conditional', 'operation', 'columnDeletes', 'nullString'],
    // There is no encoding of a null to add or to append.
    nulls: ['ignore', 'reject'],
    types: ['int8', 'int16', 'int32', 'int64'],
    isAggregate: true,
  },
  'insert-if-absent': {
    does: 'sets cells when the row has none',
    makes: 'conditional',
    carries: 'cells',
    refuses: ['conditional', 'operation', 'columnDeletes'],
    // A row that is new, or whose families are replaced, has nothing to delete.
    nulls: ['encode', 'ignore', 'reject'],
    isDynamic: true,
  },
  'replace-if-newest': {
    does: 'replaces the declared families unless they hold a cell as new',
    makes: 'conditional',
    carries: 'cells',
    refuses: ['conditional', 'operation', 'columnDeletes'],
    nulls: ['encode', 'ignore', 'reject'],
  },
  append: {
    does: 'change stored values',
    makes: 'read-modify-write',
    carries: 'families',
    refuses: ['conditional', 'operation', 'columnDeletes', 'timestamp'],
    nulls: ['ignore', 'reject'],
    types: ['string', 'bytes', 'raw'],
  },
  increment: {
    does: 'change stored values',
    makes: 'read-modify-write',
    carries: 'families',
    refuses: ['conditional', 'operation', 'columnDeletes', 'timestamp'],
    nulls: ['ignore', 'reject'],
    types: ['int64'],
  },
  conditional: {
    does: 'sends `conditional`',
    makes: 'conditional',
    carries: 'conditional',
    refuses: ['families', 'operation', 'columnDeletes', 'timestamp', 'nullString', 'onNull', 'onMissing'],
    nulls: [],
  },
} as const satisfies Readonly<Record<string, WriteModeFacts>>;

export type WriteMode = keyof typeof WRITE_MODES;

/** The modes that carry this and no more. */
export type ModeOf<What extends Carried> = {
  [Mode in WriteMode]: (typeof WRITE_MODES)[Mode]['carries'] extends What ? Mode : never;
}[WriteMode];

export const carries = <What extends Carried>(mode: WriteMode, what: What): mode is ModeOf<What> =>
  WRITE_MODES[mode].carries === what;

/** The modes that write declared columns. */
export type ColumnMode = Exclude<WriteMode, ModeOf<'conditional'>>;

export const factsOf = (mode: WriteMode): WriteModeFacts => WRITE_MODES[mode];

export const writeModes = Object.keys(WRITE_MODES) as [WriteMode, ...WriteMode[]];

/** In the order of the table. */
export const modesThat = (isMeant: (facts: WriteModeFacts) => boolean): readonly WriteMode[] =>
  writeModes.filter((mode) => isMeant(WRITE_MODES[mode]));
