import type { ResolvedFraming } from '../../../shared/config/resolved.ts';
import type { OutgoingMessage } from '../../../shared/model/publishing.ts';
import type { Position, SourceRecord } from './records.ts';
import { MAX_MESSAGE_BYTES } from './split.ts';

/**
 * Puts records into messages as a pipeline's framing takes them apart again. Pure, and in the order of the input: a
 * message holds neighbours only, because its records share one ordering key.
 */

export interface PackOptions {
  readonly framing: ResolvedFraming;
  /** At least 1; more than 1 only where the framing tells records apart. */
  readonly recordsPerMessage: number;
  readonly attributes: Readonly<Record<string, string>>;
  readonly orderingKeyOf: OrderingKeyOf;
  /** Publish what was read as it is: the input is framed already. */
  readonly isFramed: boolean;
}

/** A record's ordering key, none, or why it cannot have the one it should have. */
export type OrderingKeyOf = (data: Buffer) => { readonly key?: string; readonly problem?: string };

/** A message, or records that cannot be published. */
export type Packed =
  | { readonly message: OutgoingMessage; readonly from: Position; readonly to: Position; readonly records: number }
  | { readonly message?: never; readonly at: Position; readonly problem: string };

export interface Packer {
  add(record: SourceRecord): readonly Packed[];
  /** What is left when there are no more records. */
  end(): readonly Packed[];
}

const FRAMES: Readonly<Record<ResolvedFraming, { open: string; separator: string; close: string }>> = {
  single: { open: '', separator: '', close: '' },
  ndjson: { open: '', separator: '\n', close: '' },
  'json-array': { open: '[', separator: ',', close: ']' },
};

export function createPacker(options: PackOptions): Packer {
  const frame = FRAMES[options.isFramed ? 'single' : options.framing];
  const attributeBytes = Object.entries(options.attributes).reduce(
    (sum, pair) => sum + Buffer.byteLength(pair.join('')),
    0,
  );
  let parts: Buffer[] = [];
  let bytes = 0;
  let key: string | undefined;
  let from: Position = { source: '', line: 0 };
  let to = from;

  const seal = (): Packed[] => {
    if (parts.length === 0) return [];
    const message: OutgoingMessage = {
      data: framed(parts, frame),
      attributes: options.attributes,
      ...(key !== undefined && { orderingKey: key }),
    };
    const sealed: Packed = { message, from, to, records: parts.length };
    parts = [];
    bytes = 0;
    return [sealed];
  };

  return {
    add(record) {
      const { at } = record;
      if (record.problem !== undefined) return [{ at, problem: record.problem }];
      const data = options.framing === 'ndjson' && !options.isFramed ? onOneLine(record.data) : record.data;
      const { key: ownKey, problem } = options.orderingKeyOf(record.data);
      if (problem !== undefined) return [{ at, problem }];
      const frameBytes = frame.open.length + frame.close.length + attributeBytes + Buffer.byteLength(ownKey ?? '');
      if (data.length + frameBytes > MAX_MESSAGE_BYTES) {
        return [{ at, problem: `is larger than a message may be (${MAX_MESSAGE_BYTES} bytes with its attributes)` }];
      }
      if (data.length === 0 && attributeBytes === 0) {
        return [{ at, problem: 'is empty; a message needs data or an attribute' }];
      }
      const fits = bytes + frame.separator.length + data.length + frameBytes <= MAX_MESSAGE_BYTES;
      const sealed = parts.length > 0 && (ownKey !== key || !fits) ? seal() : [];
      if (parts.length === 0) [key, from] = [ownKey, at];
      bytes += (parts.length === 0 ? 0 : frame.separator.length) + data.length;
      parts.push(data);
      to = at;
      return parts.length < options.recordsPerMessage ? sealed : [...sealed, ...seal()];
    },
    end: seal,
  };
}

function framed(parts: readonly Buffer[], { open, separator, close }: (typeof FRAMES)['single']): Buffer {
  const [only] = parts;
  if (only && parts.length === 1 && open === '') return only;
  const pieces = parts.flatMap((part, index) => (index === 0 ? [part] : [Buffer.from(separator), part]));
  return Buffer.concat([Buffer.from(open), ...pieces, Buffer.from(close)]);
}

/** Line ends of JSON stand only between its tokens (inside a string they are escaped), where a space means the same. */
function onOneLine(json: Buffer): Buffer {
  if (!json.includes(0x0a) && !json.includes(0x0d)) return json;
  return Buffer.from(json.map((byte) => (byte === 0x0a || byte === 0x0d ? 0x20 : byte)));
}
