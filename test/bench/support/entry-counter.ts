/**
 * Counts the entries of a `MutateRowsRequest` in gRPC framing while its bytes arrive, without keeping any of them: the
 * null server must cost less than the client that it measures. Pure but for its own state.
 */
export class EntryCounter {
  entries = 0;
  /** Bytes of the gRPC prefix still to pass. */
  #prefix = 5;
  /** Bytes of a field's content still to pass. */
  #skip = 0;
  /** The tag whose length is being read; 0 between fields. */
  #tag = 0;
  #length = 0;
  #shift = 0;

  feed(chunk: Uint8Array): void {
    let at = Math.min(this.#prefix, chunk.length);
    this.#prefix -= at;
    while (at < chunk.length) {
      if (this.#skip > 0) {
        const passed = Math.min(this.#skip, chunk.length - at);
        this.#skip -= passed;
        at += passed;
        continue;
      }
      this.#read(chunk[at] ?? 0);
      at += 1;
    }
  }

  /** One byte of a tag or of a length. All fields of the request are length-delimited, with tags of one byte. */
  #read(byte: number): void {
    if (this.#tag === 0) {
      this.#tag = byte;
      if (byte === ENTRIES_TAG) this.entries += 1;
      return;
    }
    this.#length += (byte & 0x7f) * 2 ** this.#shift;
    this.#shift += 7;
    if (byte >= 0x80) return;
    this.#skip = this.#length;
    this.#tag = 0;
    this.#length = 0;
    this.#shift = 0;
  }
}

/** Field 2, length-delimited. */
const ENTRIES_TAG = 0x12;
