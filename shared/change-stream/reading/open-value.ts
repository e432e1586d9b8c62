import type { ChangeEntry } from '../../model/change.ts';
import type { ReadChangeStreamResponse_MutationChunk_ChunkInfo as ChunkInfo } from '../../proto/google/bigtable/v2/bigtable.ts';
import type { Mutation_SetCell as SetCell } from '../../proto/google/bigtable/v2/data.ts';
import { StreamProtocolError } from './wire-rules.ts';

/**
 * A value that comes in pieces. Room for all of it is taken with the second one, which is asked for when it is this change's
 * turn to be large; each piece is copied there, so that the value is held once.
 */
export class OpenValue {
  readonly #cell: SetCell;
  readonly #size: number;
  #whole: Buffer | undefined;
  #length = 0;

  constructor(cell: SetCell, size: number) {
    this.#cell = cell;
    this.#size = size;
  }

  add(piece: SetCell, { chunkedValueSize: size, chunkedValueOffset: offset, lastChunk }: ChunkInfo): void {
    if (size !== this.#size) throw new StreamProtocolError('a value in pieces announced two sizes');
    if (offset !== this.#length) throw new StreamProtocolError('a piece of a value is missing, or came twice');
    if (!this.#isSameCell(piece)) throw new StreamProtocolError('a piece of a value is of another cell');
    const length = offset + piece.value.length;
    if (length > size) throw new StreamProtocolError('a value in pieces is longer than it announced');
    if (lastChunk && length !== size) throw new StreamProtocolError('a value in pieces is shorter than it announced');
    if (offset > 0) piece.value.copy((this.#whole ??= this.#takeRoom()), offset);
    this.#length = length;
  }

  close(): ChangeEntry {
    const { familyName, columnQualifier, timestampMicros, value } = this.#cell;
    return {
      kind: 'set-cell',
      family: familyName,
      qualifier: columnQualifier,
      timestampMicros,
      value: this.#whole ?? value,
    };
  }

  #takeRoom(): Buffer {
    const whole = Buffer.allocUnsafeSlow(this.#size);
    this.#cell.value.copy(whole);
    return whole;
  }

  /** Later pieces name nothing, or the same again. */
  #isSameCell({ familyName, columnQualifier, timestampMicros }: SetCell): boolean {
    const cell = this.#cell;
    return (
      (familyName === '' || familyName === cell.familyName) &&
      (columnQualifier.length === 0 || columnQualifier.equals(cell.columnQualifier)) &&
      (timestampMicros === 0n || timestampMicros === cell.timestampMicros)
    );
  }
}
