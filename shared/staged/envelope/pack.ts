import type { Envelope } from './envelope.ts';
import { EMPTY_SEGMENT_BYTES, itemBytes } from './segment.ts';

/** Something to be staged: an envelope, and with it whoever waits for it. */
export interface Packable {
  readonly envelope: Envelope;
}

/**
 * Cuts envelopes into segments in their order of arrival. Pure bookkeeping: no I/O, no clock. A segment is sealed when
 * the next envelope does not fit in it any more; one that is too large for any has a segment of its own, above the bound.
 */
export class SegmentPacker<Item extends Packable> {
  readonly #maxBytes: number;
  readonly #sealed: (readonly Item[])[] = [];
  #open: Item[] = [];
  #openBytes = EMPTY_SEGMENT_BYTES;

  /** @param maxBytes of a payload. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isEmpty(): boolean {
    return this.#open.length === 0 && this.#sealed.length === 0;
  }

  /** Segments that nothing can be added to. */
  get sealedSegments(): number {
    return this.#sealed.length;
  }

  add(item: Item): void {
    const bytes = itemBytes(item.envelope);
    if (this.#open.length > 0 && this.#openBytes + bytes > this.#maxBytes) this.#seal();
    this.#open.push(item);
    this.#openBytes += bytes;
    if (this.#openBytes >= this.#maxBytes) this.#seal();
  }

  /** Takes up to so many segments, the oldest first; the open one only when it is among them. */
  take(maxSegments: number): (readonly Item[])[] {
    if (this.#sealed.length < maxSegments && this.#open.length > 0) this.#seal();
    return this.#sealed.splice(0, maxSegments);
  }

  #seal(): void {
    this.#sealed.push(this.#open);
    this.#open = [];
    this.#openBytes = EMPTY_SEGMENT_BYTES;
  }
}
