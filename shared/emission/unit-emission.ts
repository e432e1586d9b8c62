import { onAbort } from '../base/abort.ts';
import type { LargeMessage, OutgoingMessage } from '../model/publishing.ts';
import { EmissionError } from './failure.ts';
import { Pack, packProblem } from './messages/pack.ts';
import type { PackBuffers } from './messages/pack-buffers.ts';
import { largeDataBytes, partsOf, wholeOf } from './messages/parts.ts';
import type { Outbound } from './outbound.ts';
import type { UnitEmission, UnitOptions } from './unit.ts';
import { UnitMessages, type UnitSurroundings } from './unit-messages.ts';
import { brokenRule, MAX_MESSAGE_BYTES } from './messages/limits.ts';
import { messageSize } from './messages/wire-message.ts';

/** What a message takes of memory beside its bytes. */
const MESSAGE_OVERHEAD_BYTES = 512;

/** Room in a packed message for what is not its records, beside the attributes of its unit. */
const PACK_ENVELOPE_BYTES = 4096;

/** The tag and the length of large data. */
const DATA_FRAME_BYTES = 6;

const NO_BYTES = Buffer.alloc(0);

interface OpenPack {
  readonly pack: Pack;
  readonly outbound: Outbound;
}

/** What one unit emits: alone or packed, whole or in parts, or set apart unsent. */
export class Unit<Position> implements UnitEmission<Position> {
  readonly #options: UnitOptions;
  readonly #messages: UnitMessages<Position>;
  readonly #maxPackBytes: number;
  /** By ordering key, empty for none. */
  readonly #packs = new Map<string, OpenPack>();
  readonly #packBuffers: PackBuffers;
  readonly close: () => void;

  /**
   * @param onClose the unit is given back, or has failed.
   * @param onConfirmed told of a position when the last message before it is confirmed.
   */
  constructor(
    options: UnitOptions,
    surroundings: UnitSurroundings,
    onClose: () => void,
    onConfirmed?: (position: Position) => void,
  ) {
    this.#options = options;
    this.#packBuffers = surroundings.packBuffers;
    this.#messages = new UnitMessages(options, surroundings, onConfirmed);
    this.#maxPackBytes = MAX_MESSAGE_BYTES - PACK_ENVELOPE_BYTES - this.#messages.common.length;
    onAbort(this.failed, () => {
      this.#endPacks();
      onClose();
    });
    this.close = onClose;
  }

  get failed(): AbortSignal {
    return this.#messages.failing;
  }

  get failure(): EmissionError | undefined {
    return this.#messages.failure;
  }

  get isIdle(): boolean {
    return this.#messages.window.isIdle;
  }

  get isConfirmed(): boolean {
    return this.#messages.window.isConfirmed;
  }

  /** Bytes of the budget that wait to be packed with more. */
  get packedBytes(): number {
    let bytes = 0;
    for (const { outbound } of this.#packs.values()) bytes += outbound.held;
    return bytes;
  }

  emit(message: OutgoingMessage): Promise<void> | undefined {
    const { failure } = this.#messages;
    if (failure) return Promise.reject(failure);
    return this.#options.maxRecordsPerMessage > 1 ? this.#emitRecord(message) : this.#emitMessage(message);
  }

  async emitLarge(message: LargeMessage): Promise<void> {
    const { failure } = this.#messages;
    if (failure) throw failure;
    // Nothing of its key may leave after it that came before.
    this.#closePack(message.orderingKey ?? '');
    const { data } = message;
    const overheadBytes = messageSize({ ...message, data: NO_BYTES }, this.#messages.common);
    switch (this.#options.oversizedMessage) {
      case 'fail':
        return this.#failOversized(overheadBytes + largeDataBytes(data));
      case 'quarantine':
        // The letter takes what it has room for.
        return this.#emitMessage({ ...message, data: wholeOf(data) });
      case 'parts':
        return this.#emitParts(message, overheadBytes + DATA_FRAME_BYTES);
    }
  }

  pass(position: Position): void {
    this.#messages.window.pass(position);
  }

  flush(): void {
    for (const key of this.#packs.keys()) this.#closePack(key);
  }

  fail(error: EmissionError): void {
    // At the end of a slot not even what was emitted before begins to leave any more.
    this.#messages.fail(error, error.kind === 'ended' ? 0 : Infinity);
  }

  takeCommittable(): Position | undefined {
    this.flush();
    return this.#messages.window.takeCommittable();
  }

  settled(signal: AbortSignal): Promise<void> {
    this.flush();
    return this.#messages.settled(signal);
  }

  #emitMessage(message: OutgoingMessage): Promise<void> | undefined {
    const bytes = messageSize(message, this.#messages.common);
    const problem = brokenRule(message, this.#options.attributes);
    if (problem !== undefined) return this.#emitRefused(message, bytes, problem);
    if (bytes > MAX_MESSAGE_BYTES) return this.#emitOversized(message, bytes);
    return this.#emitWhole(message, bytes, undefined);
  }

  #emitWhole(message: OutgoingMessage, bytes: number, problem: string | undefined): Promise<void> | undefined {
    const held = bytes + MESSAGE_OVERHEAD_BYTES;
    if (this.#messages.tryTake(held)) {
      this.#messages.leave(this.#messages.enter(held), message, bytes, problem);
      return undefined;
    }
    return this.#messages.take(held, () => {
      this.#messages.leave(this.#messages.enter(held), message, bytes, problem);
    });
  }

  #emitRefused(message: OutgoingMessage, bytes: number, problem: string): Promise<void> | undefined {
    const { failurePolicy, topic } = this.#options;
    if (failurePolicy === 'dead-letter') return this.#emitWhole(message, bytes, problem);
    return this.#failNow(new EmissionError('refused', `a message for ${topic} breaks a rule of Pub/Sub: ${problem}`));
  }

  #emitOversized(message: OutgoingMessage, bytes: number): Promise<void> | undefined {
    switch (this.#options.oversizedMessage) {
      case 'fail':
        return this.#failOversized(bytes);
      case 'quarantine':
        return this.#emitWhole(message, bytes, oversizedProblem(bytes));
      case 'parts':
        return this.#emitParts(message, bytes - message.data.length);
    }
  }

  #failOversized(bytes: number): Promise<void> {
    const text = `${this.#options.topic}: ${oversizedProblem(bytes)}; see oversizedMessage`;
    return this.#failNow(new EmissionError('oversized', text));
  }

  /** One after the other, so that only what the budget has room for is on its way. */
  async #emitParts(message: OutgoingMessage | LargeMessage, overheadBytes: number): Promise<void> {
    for (const part of partsOf(message, MAX_MESSAGE_BYTES, overheadBytes)) {
      if (this.failure) throw this.failure;
      await this.#emitMessage(part);
    }
  }

  /** Whatever was emitted before goes on to its end, and counts. */
  #failNow(error: EmissionError): Promise<void> {
    this.#messages.fail(error, Infinity);
    return Promise.reject(error);
  }

  #emitRecord(message: OutgoingMessage): Promise<void> | undefined {
    const problem = packProblem(message.data);
    if (problem !== undefined || message.data.length + 1 > this.#maxPackBytes) {
      // Nothing of its key may leave after it that came before.
      this.#closePack(message.orderingKey ?? '');
      if (problem === undefined) return this.#emitMessage(message);
      return this.#emitRefused(message, messageSize(message, this.#messages.common), problem);
    }
    const bytes = message.data.length + 1;
    if (this.#messages.tryTake(bytes)) {
      this.#pack(message, bytes);
      return undefined;
    }
    return this.#messages.take(bytes, () => {
      this.#pack(message, bytes);
    });
  }

  #pack({ data, orderingKey }: OutgoingMessage, bytes: number): void {
    const key = orderingKey ?? '';
    let open = this.#packs.get(key);
    if (open && open.pack.bytes + data.length + 1 > this.#maxPackBytes) {
      this.#closePack(key);
      open = undefined;
    }
    if (!open) {
      const outbound = this.#messages.enter(0);
      open = { pack: new Pack(orderingKey, this.#packBuffers), outbound };
      this.#packs.set(key, open);
    }
    open.pack.add(data);
    open.outbound.held += bytes;
    if (open.pack.records >= this.#options.maxRecordsPerMessage) this.#closePack(key);
  }

  #closePack(key: string): void {
    const open = this.#packs.get(key);
    if (!open) return;
    this.#packs.delete(key);
    const { pack, outbound } = open;
    const { attributes, failurePolicy, topic } = this.#options;
    const { message: packed, release } = pack.close();
    outbound.release = release;
    const problem = brokenRule(packed, attributes);
    if (problem === undefined || failurePolicy === 'dead-letter') {
      this.#messages.leave(outbound, packed, messageSize(packed, this.#messages.common), problem);
    } else {
      const text = `a packed message for ${topic} breaks a rule of Pub/Sub: ${problem}`;
      this.#messages.failed(outbound, new EmissionError('refused', text));
    }
  }

  /** The unit has failed: what is packed leaves if it comes before the failure, and ends here if not. */
  #endPacks(): void {
    for (const [key, { pack, outbound }] of this.#packs) {
      if (outbound.sequence <= this.#messages.lastSequence) {
        this.#closePack(key);
      } else {
        this.#packs.delete(key);
        pack.drop();
        this.#messages.failed(outbound, undefined);
      }
    }
  }
}

const oversizedProblem = (bytes: number): string =>
  `a message has ${bytes} bytes with its attributes, above the ${MAX_MESSAGE_BYTES} that are published`;
