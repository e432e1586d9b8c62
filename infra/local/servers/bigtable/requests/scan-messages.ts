import type {
  ReadRowsResponse,
  ReadRowsResponse_CellChunk,
} from '../../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { ScanShape } from '../database.ts';
import { bytesOf } from '../rows/row.ts';
import { chunkBytes } from './chunks.ts';

/** Gathers what a scan comes upon into messages. A row may span messages; a message may hold many rows. */
export class ScanMessages {
  readonly #send: (message: ReadRowsResponse) => Promise<void>;
  readonly #shape: ScanShape;
  readonly #isInformed: boolean;
  #chunks: ReadRowsResponse_CellChunk[] = [];
  #bytes = 0;
  #rowsKeptBack = 0;

  /** @param isInformed whether the caller understands messages that only say how far the scan is. */
  constructor(send: (message: ReadRowsResponse) => Promise<void>, shape: ScanShape, isInformed: boolean) {
    this.#send = send;
    this.#shape = shape;
    this.#isInformed = isInformed;
  }

  async add(chunks: readonly ReadRowsResponse_CellChunk[]): Promise<void> {
    this.#rowsKeptBack = 0;
    for (const chunk of chunks) {
      this.#chunks.push(chunk);
      this.#bytes += chunkBytes(chunk);
      if (this.#bytes >= this.#shape.messageBytes) await this.flush();
    }
  }

  /** The filter let nothing of this row through. */
  async keptBack(key: string): Promise<void> {
    if (!this.#isInformed) return;
    this.#rowsKeptBack += 1;
    if (this.#rowsKeptBack < this.#shape.rowsPerProgress) return;
    this.#rowsKeptBack = 0;
    await this.flush();
    await this.#send({ chunks: [], lastScannedRowKey: bytesOf(key), requestStats: undefined });
  }

  async flush(): Promise<void> {
    if (this.#chunks.length === 0) return;
    const message = { chunks: this.#chunks, lastScannedRowKey: NO_KEY, requestStats: undefined };
    this.#chunks = [];
    this.#bytes = 0;
    await this.#send(message);
  }
}

const NO_KEY = Buffer.alloc(0);
