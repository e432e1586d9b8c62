/** Lengths as protobuf writes them: seven bits a byte, the lowest first. Pure; values are whole numbers below 2³¹. */

export function varintSize(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  if (value < 0x1000_0000) return 4;
  return 5;
}

/** Writes `value` at `start` and returns where it ends. */
export function writeVarint(target: Uint8Array, start: number, value: number): number {
  let at = start;
  let rest = value;
  while (rest >= 0x80) {
    target[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  target[at] = rest;
  return at + 1;
}
