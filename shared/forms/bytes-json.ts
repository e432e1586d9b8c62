import { isUtf8 } from 'node:buffer';

/** Bytes as JSON reads them back: a text where a person could read it, else base64. Pure. */
export function bytesJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) return { base64: bytes.toString('base64') };
  const text = bytes.toString();
  return CONTROL.test(text) ? { base64: bytes.toString('base64') } : text;
}

const CONTROL = /\p{Cc}/u;

/** A value of 8 bytes that is known to be an integer. */
export const int64Json = (bytes: Buffer): unknown => ({ int64: String(bytes.readBigInt64BE()) });
