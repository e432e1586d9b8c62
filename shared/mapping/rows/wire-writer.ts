import { BinaryWriter } from '@bufbuild/protobuf/wire';

/** A writer grows by allocating; one that is used again has grown already. Beyond this its memory is given back. */
const MAX_KEPT_BYTES = 64 * 1024;

let kept: BinaryWriter | undefined;

/** The bytes of what `encode` writes, by a writer that is used again: small requests then cost one allocation each. */
export function encodeWith(encode: (writer: BinaryWriter) => BinaryWriter): Buffer {
  const writer = kept ?? new BinaryWriter();
  // Not kept by an encoder that throws halfway, nor by one that is called from within another.
  kept = undefined;
  const bytes = encode(writer).finish();
  if (bytes.length <= MAX_KEPT_BYTES) kept = writer;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
